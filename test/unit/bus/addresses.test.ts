// Addresses of capabilities: one text for one address, and what covers what.
// Not here: who is granted which (capabilities.test.ts).
import { describe, expect, it } from 'vitest';
import { checkedAddress, coversAddress } from '../../../lib/bus/addresses.ts';

describe('checkedAddress', () => {
  it.each([
    ['Example.COM:443', 'example.com:443'],
    ['example.com.:443', 'example.com:443'],
    ['127.0.0.1:*', '127.0.0.1:*'],
    ['*:0', '*:0'],
    ['*:*', '*:*'],
    ['[::1]:80', '[::1]:80'],
    ['[0:0:0:0:0:0:0:1]:80', '[::1]:80'],
    ['[2001:DB8::0:1]:65535', '[2001:db8::1]:65535'],
    ['unix:/run/a.sock', 'unix:/run/a.sock'],
  ])('%s is %s', (given, canonical) => {
    expect(checkedAddress('address', given)).toBe(canonical);
  });

  it.each([
    '',
    ':',
    'host',
    'host:',
    ':80',
    'host:65536',
    'host:-1',
    'host:080',
    'host:8 0',
    'ho st:80',
    '::1:80',
    '[::1%lo]:80',
    '[::1]',
    '127.1:80',
    '0x7f.1:80',
    '1.2.3.4.5:80',
    '127.0.0.01:80',
    'a..b:80',
    '*.example.com:80',
    'user@host:80',
    'http://host:80',
    'unix:run/a',
    'unix:/run/../a',
    'unix:/a//b',
    'unix:/a\0',
    'unix:',
  ])('%j is refused', (given) => {
    const expected = expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE' });
    expect(() => checkedAddress('address', given)).toThrow(expected);
  });
});

describe('coversAddress', () => {
  it.each([
    ['a:1', 'a:1', true],
    ['a:1', 'a:2', false],
    ['a:*', 'a:2', true],
    ['*:2', 'a:2', true],
    ['*:*', '[::1]:2', true],
    ['a:1', 'a:*', false],
    ['a:*', '*:*', false],
    ['*:*', 'unix:/a', false],
    ['unix:/a', 'unix:/a', true],
    ['unix:/a', 'unix:/a/b', false],
    ['127.0.0.1:*', '127.0.0.11:1', false],
  ])('%s and %s: %s', (pattern, address, isCovered) => {
    expect(coversAddress(pattern, address)).toBe(isCovered);
  });
});
