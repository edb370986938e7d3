import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { expect } from 'chai';
import { createFile, replaceFile } from '../../../src/tools/editor/atomic-write.js';
import { readTextFile } from '../../../src/tools/editor/text-file.js';
import { EditorScope } from '../../support/editor-scope.js';
import { openFiles } from '../../support/process-table.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { textOf } from '../../support/tool-scope.js';

describe('str_replace_editor', () => {
  let editor: EditorScope;
  beforeEach(async () => {
    editor = await EditorScope.open();
  });
  afterEach(() => editor.close());

  describe('files', () => {
    const edits: readonly (readonly [string, object])[] = [
      ['view', {}],
      ['str_replace', { old_str: 'a', new_str: 'b' }],
      ['insert', { insert_line: 0, new_str: 'b' }],
    ];
    for (const [command, args] of edits) {
      it(`${command} tells what it cannot use`, async () => {
        editor.write('nul', 'a\0');
        editor.write('latin1', Buffer.from([0x61, 0xe9, 0x0a]));
        editor.write('a', '');
        execFileSync('mkfifo', [editor.at('fifo')]);
        symlinkSync(editor.at('gone'), editor.at('broken'));
        editor.write('large', '');
        truncateSync(editor.at('large'), 64 * 1024 * 1024 + 1);
        for (const [name, message, code] of [
          ['missing', 'W/missing does not exist', 'FS_NOT_FOUND'],
          ['broken', 'W/broken does not exist', 'FS_NOT_FOUND'],
          ['a/b', 'a part of W/a/b is not a directory', 'FS_NOT_DIRECTORY'],
          ['fifo', 'W/fifo is a special file, not a regular file', 'FS_NOT_REGULAR_FILE'],
          ['nul', 'W/nul is not a UTF-8 text file: it holds NUL bytes', 'FS_NOT_TEXT'],
          ['latin1', 'W/latin1 is not a UTF-8 text file: it holds bytes that are not UTF-8', 'FS_NOT_TEXT'],
          ['large', 'W/large has 67108865 bytes, more than the 67108864 that can be edited here', 'FS_TOO_LARGE'],
        ] as const) {
          expect(await editor.refusal(command, name, args)).to.deep.equal([message, code]);
        }
      });
    }

    it('are not directories', async () => {
      expect(await editor.refusal('insert', '', { insert_line: 0, new_str: '' })).to.deep.equal([
        'W is a directory, not a regular file',
        'FS_NOT_REGULAR_FILE',
      ]);
    });

    it('keep their mode and a byte order mark, and a link stays one', async () => {
      editor.write('real', '\ufeffold');
      chmodSync(editor.at('real'), 0o4751);
      symlinkSync(editor.at('real'), editor.at('link'));
      await editor.edit('str_replace', 'link', { old_str: 'old', new_str: 'new' });
      expect(lstatSync(editor.at('link')).isSymbolicLink()).to.equal(true);
      expect(editor.read('real')).to.equal('\ufeffnew');
      expect(statSync(editor.at('real')).mode & 0o7777).to.equal(0o4751);
      expect(readdirSync(editor.workspace).sort()).to.deep.equal(['link', 'real']);
    });

    it('are replaced whole: who has the old one open still reads that', async () => {
      editor.write('a', 'old');
      const before = openSync(editor.at('a'), 'r');
      await editor.edit('str_replace', 'a', { old_str: 'old', new_str: 'new' });
      expect(readFileSync(before, 'utf8')).to.equal('old');
      closeSync(before);
    });

    it('lose no edit of several at once, whatever the path to them', async () => {
      const names = Array.from({ length: 20 }, (_, i) => `<${i}>`);
      editor.write('a', names.join('\n'));
      symlinkSync(editor.at('a'), editor.at('link'));
      const files = openFiles().length;
      await Promise.all(
        names.map((name, i) => editor.edit('str_replace', i % 2 ? 'a' : 'link', { old_str: name, new_str: `${i}` })),
      );
      expect(editor.read('a')).to.equal(names.map((_, i) => i).join('\n'));
      expect(openFiles().length).to.equal(files);
    });

    it('are not made where somebody else was first', async () => {
      editor.write('a', 'old');
      const thrown = await rejectionOf(createFile(editor.at('a'), 'new', new AbortController().signal));
      expect(thrown).to.have.property('message').that.contains('exists already');
      expect(editor.read('a')).to.equal('old');
      expect(readdirSync(editor.workspace)).to.deep.equal(['a']);
    });

    it('are not made where the file system has no place, be it asked for directories as well', async () => {
      symlinkSync(editor.at('gone'), editor.at('broken'));
      for (const path of ['/proc/nope/more/a.txt', '/proc/nope.txt', editor.at('broken/a')]) {
        const outcome = await editor.tools.call('str_replace_editor', { command: 'create', path, file_text: 'a' });
        expect(textOf(outcome)).to.match(/^Error: \S+ cannot be made there: ENOENT/);
        expect(outcome.error?.code).to.equal('FS_NOT_FOUND');
      }
    });

    it('of the kernel are shown as far as they go', async () => {
      const see = (path: string) => editor.tools.call('str_replace_editor', { command: 'view', path });
      expect(textOf(await see('/proc/self/status'))).to.contain(`Pid:\t${process.pid}`);
      // Far larger than it says.
      expect((await see('/proc/self/pagemap')).error?.code).to.equal('FS_TOO_LARGE');
      // It would wait for the next message; not everybody may read it.
      expect((await see('/proc/kmsg')).error?.code).to.match(/^FS_(IO_ERROR|PERMISSION_DENIED|NOT_FOUND)$/);
    });

    it('of many blocks are read whole, and not on after an abort', async () => {
      const text = `${'0123456789abcde\n'.repeat(50_000)}end`;
      editor.write('a', text);
      expect((await readTextFile(editor.at('a'), new AbortController().signal)).text).to.equal(text);
      const reason = new Error('stop');
      expect(await rejectionOf(readTextFile(editor.at('a'), AbortSignal.abort(reason)))).to.equal(reason);
    });

    it('stay as they are, with nothing beside them, when the call was aborted', async () => {
      editor.write('a', 'old');
      const aborted = AbortSignal.abort();
      const edits = [
        readTextFile(editor.at('a'), new AbortController().signal).then((file) => replaceFile(file, 'new', aborted)),
        createFile(editor.at('b'), 'new', aborted),
      ];
      for (const { status } of await Promise.allSettled(edits)) expect(status).to.equal('rejected');
      expect(readdirSync(editor.workspace)).to.deep.equal(['a']);
      expect(editor.read('a')).to.equal('old');
    });
  });
});
