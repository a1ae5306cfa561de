// Bans: what must not be in the repository, each with the reason or the replacement in its message.
// Invariants: a ban names the files it is about; patterns are written so that this file does not
// match itself (a character class in each word that would).
// Not here: what biome already refuses (any, default exports, enums, non-null assertions).
import { type Finding, linesOf, type Rule } from '../source_file.ts';

interface Ban {
  readonly files: RegExp;
  readonly except?: RegExp;
  readonly pattern: RegExp;
  readonly message: string;
}

const EVERYWHERE = /./;
const SCRIPTS = /\.(ts|js)$/;
const TESTS = /^test\/.*\.ts$/;
const NATIVE = /^(native|test\/native)\/.*\.(cc|h)$/;

const BANS: readonly Ban[] = [
  {
    files: TESTS,
    pattern: /\b(describe|it|test|suite)\.[o]nly\b/,
    message: 'a focused test hides all others',
  },
  {
    files: /^(test\/.*|vitest\.config)\.ts$/,
    pattern: /\b[r]etry:\s*[1-9]|\{\s*[r]etries:/,
    message: 'a test that needs a second try has found a defect',
  },
  {
    files: EVERYWHERE,
    except: /^package-lock\.json$/,
    pattern: /\b(TO[D]O|FIX[M]E|X[X]X)\b/,
    message: 'finish it or describe it as a limit where users read it',
  },
  {
    files: SCRIPTS,
    pattern: /\blisten\(\s*[1-9]|\bport:\s*[1-9]\d*\b/,
    message: 'a fixed port: listen on 0 and ask which one it was',
  },
  {
    files: EVERYWHERE,
    pattern: /(^|[\s'"`(=:])\/(wor[k]|roo[t]|home\/\w+|Users\/\w+)\/\w/,
    message: 'a path of one machine',
  },
  {
    files: EVERYWHERE,
    pattern: /registry\.npm[j]s|registry\.yarn[p]kg|https?:\/\/[^\s/"]*registr[y]/,
    message: 'a registry host: npm is configured outside the repository',
  },
  {
    files: EVERYWHERE,
    except: /^package-lock\.json$/,
    pattern: /\b(Cl[a]ude|Anthr[o]pic|Chat[G]PT|Cop[i]lot|L[L]M)\b/i,
    message: 'how the work is organised does not belong in it',
  },
  {
    files: /^lib\/.*\.ts$/,
    except: /^lib\/cli\//,
    pattern: /\bconsole\./,
    message: 'a library does not print: report through its API',
  },
  {
    files: /^(lib|test|bench)\/.*\.ts$/,
    except: /prng\.ts$/,
    pattern: /\bMath\.ran[d]om\(/,
    message: 'not replayable: use a seeded generator and print the seed',
  },
  {
    files: NATIVE,
    pattern: /(^|[^_\w])asser[t]\(|<casser[t]>|<asser[t]\.h>/,
    message: 'assert vanishes in release builds: CHECK (base/check.h)',
  },
  {
    files: /^native\/.*\.(cc|h)$/,
    except: /^native\/abi\/dump_layout\.cc$/,
    pattern: /<iostrea[m]>|std::cou[t]|\bprint[f]\(/,
    message: 'an addon does not print (check.h writes to stderr before it aborts)',
  },
  {
    files: SCRIPTS,
    pattern: /@ts-(ignor[e]|nochec[k])/,
    message: 'fix the type, or @ts-expect-error with the reason',
  },
];

export const bans: Rule = (files) =>
  files.flatMap((file) => {
    const active = BANS.filter(
      ({ files: included, except }) => included.test(file.path) && !except?.test(file.path),
    );
    return linesOf(file).flatMap((line, index): Finding[] =>
      active
        .filter(({ pattern }) => pattern.test(line))
        .map(({ message }) => ({ path: file.path, line: index + 1, message })),
    );
  });
