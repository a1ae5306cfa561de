// Sizes, durations, numbers, and suggestions for mistyped names.
// Not here: which option takes which unit (options.test.ts).
import { describe, expect, test } from 'vitest';
import { editDistance, nearestName } from '../../lib/cli/nearest.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  parseDecimal,
  parseDurationMs,
  parseInteger,
  parseSize,
  trimNumber,
} from '../../lib/cli/units.ts';

const ANY = { min: 0, max: Number.MAX_SAFE_INTEGER };

describe('sizes', () => {
  test.each([
    ['4096', 4096],
    ['4k', 4096],
    ['4K', 4096],
    ['4KiB', 4096],
    ['4kb', 4096],
    ['1.5m', 1.5 * 1024 ** 2],
    ['2g', 2 * 1024 ** 3],
    ['1t', 1024 ** 4],
    ['512b', 512],
  ])('%s is %d bytes', (text, bytes) => {
    expect(parseSize('size', text, ANY)).toBe(bytes);
  });

  test.each(['', 'k', '4x', '-4k', '4 k 4', '1.0001k', '4kk', '1e3', '0x10', '99999999t'])(
    "'%s' is refused with the option, the text and what is allowed",
    (text) => {
      expect(() => parseSize('size', text, ANY)).toThrow(`--size ${text}: expected a size`);
    },
  );

  test('bounds are inclusive and named', () => {
    expect(parseSize('block', '512', { min: 512, max: 1024 })).toBe(512);
    expect(parseSize('block', '1k', { min: 512, max: 1024 })).toBe(1024);
    expect(() => parseSize('block', '511', { min: 512, max: 1024 })).toThrow('512 B to 1 KiB');
  });
});

describe('durations', () => {
  test.each([
    ['10s', 10_000],
    ['10', 10_000],
    ['250ms', 250],
    ['2m', 120_000],
    ['1.5h', 5_400_000],
    ['500us', 0.5],
  ])('%s is %d milliseconds', (text, durationMs) => {
    expect(parseDurationMs('duration', text, ANY)).toBe(durationMs);
  });

  test.each(['', 's', '10x', '-1s', '1m30s', 'Infinity'])("'%s' is refused", (text) => {
    expect(() => parseDurationMs('duration', text, ANY)).toThrow('expected a duration');
  });
});

describe('numbers', () => {
  test('whole numbers take thousands and millions only where rates are meant', () => {
    expect(parseInteger('rate', '20k', ANY, true)).toBe(20_000);
    expect(parseInteger('rate', '1.5m', ANY, true)).toBe(1_500_000);
    expect(() => parseInteger('depth', '20k', ANY)).toThrow('--depth 20k: expected a whole number');
    expect(() => parseInteger('depth', '1.5', ANY)).toThrow('whole number');
    expect(() => parseInteger('rate', '0.0001k', ANY, true)).toThrow('whole number');
  });

  test('decimals are plain', () => {
    expect(parseDecimal('zipf', '0.99', ANY)).toBe(0.99);
    expect(() => parseDecimal('zipf', '1e3', ANY)).toThrow('expected a number');
    expect(() => parseDecimal('zipf', 'NaN', ANY)).toThrow('expected a number');
  });

  test('formats are the same in every locale', () => {
    expect(formatBytes(256 * 1024 ** 2)).toBe('256 MiB');
    expect(formatBytes(1536)).toBe('1.5 KiB');
    expect(formatBytes(0)).toBe('0 B');
    expect(formatCount(1234567.8)).toBe('1,234,568');
    expect(formatDuration(90_000)).toBe('1.5 min');
    expect(trimNumber(5380.4)).toBe('5,380');
    expect(trimNumber(0.5)).toBe('0.5');
  });
});

describe('nearest name', () => {
  test.each([
    ['dept', 'depth'],
    ['detph', 'depth'],
    ['dur', 'duration'],
    ['againts', 'against'],
    ['Depth', 'depth'],
  ])("'%s' suggests '%s'", (given, expected) => {
    expect(nearestName(given, ['depth', 'duration', 'against', 'seed'])).toBe(expected);
  });

  test('nothing is suggested for what resembles nothing', () => {
    expect(nearestName('frobnicate', ['depth', 'duration', 'seed'])).toBeUndefined();
  });

  test('a swap of neighbours is one edit', () => {
    expect(editDistance('ab', 'ba')).toBe(1);
    expect(editDistance('', 'abc')).toBe(3);
    expect(editDistance('same', 'same')).toBe(0);
  });
});
