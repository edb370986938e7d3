import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Writable } from 'node:stream';

const STDOUT = 1;
const STDERR = 2;
/** Every function of `fs` that writes to a descriptor given as its first argument. */
const FD_WRITERS = [
  'write',
  'writeSync',
  'writev',
  'writevSync',
  'writeFile',
  'writeFileSync',
  'appendFile',
  'appendFileSync',
] as const;

/**
 * Keeps stdout for its owner (decision 11): everything else in the process that writes there (`console`,
 * `process.stdout`, `fs.write*` to descriptor 1) reaches stderr instead. Has to run before any other module is loaded.
 *
 * What native code prints, and a child that inherits descriptor 1, are out of reach.
 *
 * @returns the real stdout
 */
export function guardStdout(): Writable {
  const real = process.stdout;
  const standIn = redirectTo(process.stderr);
  Object.defineProperty(process, 'stdout', { configurable: true, enumerable: true, get: () => standIn });
  const writers = fs as unknown as Record<string, (target: unknown, ...rest: unknown[]) => unknown>;
  for (const name of FD_WRITERS) {
    const original = writers[name];
    if (original === undefined) continue;
    const rerouted = (target: unknown, ...rest: unknown[]): unknown =>
      original.call(fs, target === STDOUT ? STDERR : target, ...rest);
    writers[name] = Object.defineProperties(rerouted, Object.getOwnPropertyDescriptors(original));
  }
  syncBuiltinESMExports();
  return real;
}

/** What `process.stdout` is from now on: not a terminal, and nobody can end it. */
function redirectTo(stderr: Writable): Writable {
  const standIn = new Writable({
    decodeStrings: false,
    write: (chunk, encoding, done) => void stderr.write(chunk, encoding, done),
  });
  return Object.assign(standIn, {
    fd: STDERR,
    end: (chunk?: unknown) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) standIn.write(chunk);
      return standIn;
    },
    destroy: () => standIn,
  });
}
