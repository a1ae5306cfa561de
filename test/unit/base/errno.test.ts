// Error numbers by name, against the errors that node:fs really gives.
// Not here: errors that users see.
import { openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errnoOf, findErrno } from '../../../lib/base/errno.ts';

describe('errno', () => {
  it('errno: the number that node:fs gives', () => {
    expect(() => openSync('/no/such/file', 'r')).toThrow(
      expect.objectContaining({ code: 'ENOENT', errno: errnoOf('ENOENT') }),
    );
  });

  it.runIf(process.platform === 'linux')('errno: also names that libuv does not know', () => {
    expect(errnoOf('EDQUOT')).toBe(-122);
    expect(errnoOf('ENOTSUP')).toBe(-95);
  });

  it('errno: an unknown name', () => {
    expect(findErrno('ENOSUCHNAME')).toBeUndefined();
    expect(() => errnoOf('ENOSUCHNAME')).toThrow('ENOSUCHNAME');
  });
});
