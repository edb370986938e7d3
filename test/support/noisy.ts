import fs, { createWriteStream, writeFileSync, writeSync } from 'node:fs';

/** Prints to stdout in every way JavaScript has. */
function shout(when: string): void {
  console.log(`NOISE console.log ${when}`);
  process.stdout.write(`NOISE process.stdout.write ${when}\n`);
  fs.writeSync(1, `NOISE fs.writeSync ${when}\n`);
  writeSync(1, `NOISE named writeSync ${when}\n`);
  fs.write(1, `NOISE fs.write ${when}\n`, () => undefined);
  writeFileSync(1, `NOISE fs.writeFileSync ${when}\n`);
  createWriteStream('', { fd: 1, autoClose: false }).write(`NOISE fs.createWriteStream ${when}\n`);
}

shout('at import');
setInterval(() => console.log('NOISE later'), 1).unref();
if (process.env.NOISE_ENDS_STDOUT !== undefined) {
  process.stdout.end('NOISE end\n');
  process.stdout.destroy();
}
