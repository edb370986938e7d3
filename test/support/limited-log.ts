import { statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../src/base/index.js';
import { newFileLog } from './file-logs.js';

/** Run under a limit of the file size: appends until the kernel refuses, and tells on stdout how it went. */
const [, , root = ''] = process.argv;
process.on('SIGXFSZ', () => undefined);

const path = join(root, '--ws--', 's', 'session.jsonl');
const header = { type: 'session', version: 0, id: 's', createdAt: 1, cwd: '/ws', delegationDepth: 0 } as const;
const log = newFileLog(root, header);
const data = { title: 'x'.repeat(300), messageSeqs: [], source: { kind: 'user' } };
let stored = 0;
let code: string | undefined;
while (code === undefined) {
  try {
    log.append([{ seq: stored, json: JSON.stringify({ type: 'session/title', seq: stored, time: 1, data }) }]);
    stored += 1;
  } catch (thrown) {
    code = errorCode(thrown) ?? String(thrown);
  }
}
await log.close();
process.stdout.write(JSON.stringify({ stored, code, size: statSync(path).size }));
