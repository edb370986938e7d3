import { mkdirSync, symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { EditorScope } from '../../support/editor-scope.js';

describe('str_replace_editor view', () => {
  let editor: EditorScope;
  beforeEach(async () => {
    editor = await EditorScope.open();
  });
  afterEach(() => editor.close());

  describe('view of a file', () => {
    it('numbers the lines, and counts the empty one after a final newline', async () => {
      editor.write('note.txt', 'target:\n\told\n');
      expect(await editor.edit('view', 'note.txt')).to.equal(
        'W/note.txt (3 lines)\n     1  target:\n     2  \told\n     3  ',
      );
    });

    it('shows an empty file as one empty line', async () => {
      editor.write('empty', '');
      expect(await editor.edit('view', 'empty')).to.equal('W/empty (1 line)\n     1  ');
    });

    for (const [range, shown] of [
      [[1, 1], [1]],
      [
        [2, 3],
        [2, 3],
      ],
      [[4, 4], [4]],
      [
        [3, -1],
        [3, 4],
      ],
    ] as const) {
      it(`shows the range ${JSON.stringify(range)}`, async () => {
        editor.write('a', 'l1\nl2\nl3\nl4');
        const rows = shown.map((n) => `     ${n}  l${n}`);
        expect(await editor.edit('view', 'a', { view_range: range })).to.equal(
          [`W/a (4 lines, showing ${shown[0]}-${shown.at(-1)})`, ...rows].join('\n'),
        );
      });
    }

    for (const [range, message] of [
      [[0, 2], 'view_range[0] is 0, it must be between 1 and 4, the number of lines'],
      [[5, -1], 'view_range[0] is 5, it must be between 1 and 4, the number of lines'],
      [[-1, 2], 'view_range[0] is -1, it must be between 1 and 4, the number of lines'],
      [[1, 5], 'view_range[1] is 5, it must not exceed 4, the number of lines'],
      [[3, 2], 'view_range[1] is 2, it must be -1 or at least 3, as view_range[0]'],
      [[1, -2], 'view_range[1] is -2, it must be -1 or at least 1, as view_range[0]'],
    ] as const) {
      it(`refuses the range ${JSON.stringify(range)}`, async () => {
        editor.write('a', 'l1\nl2\nl3\nl4');
        expect(await editor.refusal('view', 'a', { view_range: range })).to.deep.equal([message, 'INVALID_ARGS']);
      });
    }

    it('is clipped at maxOutputChars, on a character, with its head kept (A8)', async () => {
      const maxOutputChars = editor.workspace.length + 30;
      const narrow = await EditorScope.open({ maxOutputChars });
      narrow.write('a', '🔥'.repeat(100));
      const text = (await narrow.edit('view', 'a')).replace('W', narrow.workspace);
      const [header, line, notice] = text.split('\n');
      expect(header).to.equal(`${narrow.at('a')} (1 line)`);
      expect(line).to.match(/^ {5}1 {2}(🔥)+$/u);
      expect(`${header}\n${line}`.length).to.be.within(maxOutputChars - 1, maxOutputChars);
      expect(notice).to.match(/^\[view clipped: only the beginning of \d+ characters; .*grep -n\]$/);
      await narrow.close();
    });

    for (const [less, expected] of [
      [0, '     1  xy'],
      [1, '     1  x\n[view clipped: only the beginning of'],
    ] as const) {
      it(`shows ${less === 0 ? 'all' : 'the head'} when maxOutputChars is ${less} less than there is`, async () => {
        const length = `${editor.at('a')} (1 line)\n     1  xy`.length;
        const narrow = await EditorScope.open({ maxOutputChars: length - less });
        narrow.write('a', 'xy');
        const text = await narrow.edit('view', 'a');
        expect(text.startsWith(`W/a (1 line)\n${expected}`)).to.equal(true);
        expect(text.includes('clipped')).to.equal(less > 0);
        await narrow.close();
      });
    }
  });

  describe('view of a directory', () => {
    it('lists two levels by code unit, without hidden and generated names', async () => {
      for (const name of ['src/deep/deeper', '.git', 'node_modules/m', 'src/__pycache__', 'Zoo']) {
        mkdirSync(editor.at(name), { recursive: true });
      }
      for (const name of ['b.txt', '.env', 'src/a.ts', 'src/deep/x', 'src/.hidden', 'Zoo/é', 'node_modules/x'])
        editor.write(name, '');
      symlinkSync('src', editor.at('link'));
      expect((await editor.edit('view', '')).split('\n')).to.deep.equal([
        'W, two levels deep, without hidden names, node_modules and __pycache__:',
        'd\tW/Zoo',
        'f\tW/Zoo/é',
        'f\tW/b.txt',
        '?\tW/link',
        'd\tW/src',
        'f\tW/src/a.ts',
        'd\tW/src/deep',
      ]);
    });

    it('refuses a range', async () => {
      expect(await editor.refusal('view', '', { view_range: [1, 2] })).to.deep.equal([
        'view_range is for files, and W is a directory',
        'INVALID_ARGS',
      ]);
    });
  });
});
