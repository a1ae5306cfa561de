// Sizes, durations and numbers as people type and read them.
// Owner: nobody; pure functions. Invariants: parsing is strict (no trailing garbage, no silent
// rounding to zero) and every error names the text, and what is allowed.
// Not here: which option takes which unit (stress/option_table.ts).
import { usageError } from './cli_error.ts';

const SIZE_FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
};

const DURATION_FACTORS_MS: Readonly<Record<string, number>> = {
  us: 1e-3,
  ms: 1,
  s: 1e3,
  m: 60e3,
  h: 3600e3,
};

/** Inclusive bounds of a number. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Parses `4096`, `4k`, `1.5m`, `2GiB` into bytes; suffixes are powers of 1024. */
export function parseSize(option: string, text: string, bounds: Bounds): number {
  const match = /^(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?$/i.exec(text.trim());
  const factor = SIZE_FACTORS[match?.[2]?.toLowerCase() ?? '?'];
  const bytes = match === null || factor === undefined ? Number.NaN : Number(match[1]) * factor;
  if (!Number.isSafeInteger(bytes)) {
    throw badValue(option, text, 'a size such as 4096, 4k, 1m or 2g');
  }
  if (bytes < bounds.min || bytes > bounds.max) {
    const range = `a size from ${formatBytes(bounds.min)} to ${formatBytes(bounds.max)}`;
    throw badValue(option, text, range);
  }
  return bytes;
}

/** Parses `250ms`, `10s`, `2m`, `1h` into milliseconds; a bare number is seconds. */
export function parseDurationMs(option: string, text: string, bounds: Bounds): number {
  const match = /^(\d+(?:\.\d+)?)\s*(us|ms|s|m|h)?$/i.exec(text.trim());
  const factor = DURATION_FACTORS_MS[(match?.[2] ?? 's').toLowerCase()];
  const durationMs =
    match === null || factor === undefined ? Number.NaN : Number(match[1]) * factor;
  if (!Number.isFinite(durationMs)) {
    throw badValue(option, text, 'a duration such as 500ms, 10s, 2m or 1h');
  }
  if (durationMs < bounds.min || durationMs > bounds.max) {
    const range = `a duration from ${formatDuration(bounds.min)} to ${formatDuration(bounds.max)}`;
    throw badValue(option, text, range);
  }
  return durationMs;
}

/** Parses a whole number; `10k` and `2m` mean thousands and millions when `allowsSuffix`. */
export function parseInteger(
  option: string,
  text: string,
  bounds: Bounds,
  allowsSuffix = false,
): number {
  const match = /^(\d+(?:\.\d+)?)([km]?)$/i.exec(text.trim());
  const suffix = match?.[2]?.toLowerCase() ?? '';
  const factor = suffix === 'k' ? 1e3 : suffix === 'm' ? 1e6 : 1;
  const value = match === null ? Number.NaN : Number(match[1]) * factor;
  const isAllowed = Number.isSafeInteger(value) && (allowsSuffix || suffix === '');
  if (!isAllowed || value < bounds.min || value > bounds.max) {
    throw badValue(option, text, `a whole number from ${bounds.min} to ${bounds.max}`);
  }
  return value;
}

/** Parses a decimal number within bounds. */
export function parseDecimal(option: string, text: string, bounds: Bounds): number {
  const value = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(value >= bounds.min && value <= bounds.max)) {
    throw badValue(option, text, `a number from ${bounds.min} to ${bounds.max}`);
  }
  return value;
}

/** The error every value parser throws. */
export function badValue(option: string, given: string, allowed: string): Error {
  return usageError(`--${option} ${given}: expected ${allowed}`, 'ERR_CLI_BAD_VALUE');
}

/** 262144 -> `256 KiB`: the largest unit that keeps the number at least 1. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${trimNumber(value)} ${units[unit]}`;
}

/** 90000 -> `1.5 min`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1) return `${trimNumber(durationMs * 1e3)} us`;
  if (durationMs < 1e3) return `${trimNumber(durationMs)} ms`;
  if (durationMs < 60e3) return `${trimNumber(durationMs / 1e3)} s`;
  if (durationMs < 3600e3) return `${trimNumber(durationMs / 60e3)} min`;
  return `${trimNumber(durationMs / 3600e3)} h`;
}

/** 1234567.8 -> `1,234,568`: whole, with thousands separators, the same in every locale. */
export function formatCount(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** Microseconds with one decimal below 1,000: `88.2`, `12,345`. */
export function formatUs(us: number): string {
  return us < 1000 ? us.toFixed(1) : formatCount(us);
}

/** Three significant digits, without trailing zeros; whole with separators from 1,000. */
export function trimNumber(value: number): string {
  if (value >= 1000) return formatCount(value);
  const decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return Number(value.toFixed(decimals)).toString();
}
