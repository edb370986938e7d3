import { mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { createFile } from '../../../src/tools/editor/atomic-write.js';
import { EditorScope } from '../../support/editor-scope.js';
import { runs } from '../../support/runs.js';

describe('str_replace_editor edits', () => {
  let editor: EditorScope;
  beforeEach(async () => {
    editor = await EditorScope.open();
  });
  afterEach(() => editor.close());

  describe('create', () => {
    it('makes a private file of its text, and the directories to it', async () => {
      expect(await editor.edit('create', 'a/b/c.txt', { file_text: 'é\r\n🔥' })).to.equal('Created W/a/b/c.txt.');
      expect(editor.read('a/b/c.txt')).to.equal('é\r\n🔥');
      expect(statSync(editor.at('a/b/c.txt')).mode & 0o777).to.equal(0o600);
      expect(readdirSync(editor.at('a/b'))).to.deep.equal(['c.txt']);
    });

    it('makes an empty file', async () => {
      await editor.edit('create', 'empty', { file_text: '' });
      expect(editor.read('empty')).to.equal('');
    });

    it('copes with the longest name there can be', async () => {
      const name = '台'.repeat(85);
      await editor.edit('create', name, { file_text: 'a' });
      expect(editor.read(name)).to.equal('a');
    });

    const taken: readonly (readonly [string, () => void])[] = [
      ['a file', () => editor.write('a', 'old')],
      ['a directory', () => mkdirSync(editor.at('a'))],
      ['a broken link', () => symlinkSync(editor.at('nowhere'), editor.at('a'))],
    ];
    for (const [title, make] of taken) {
      it(`fails where ${title} is`, async () => {
        make();
        expect(await editor.refusal('create', 'a', { file_text: 'new' })).to.deep.equal([
          'W/a exists already: change it with str_replace or insert, or choose another path',
        ]);
        expect(readdirSync(editor.workspace)).to.deep.equal(['a']);
      });
    }

    it('does not overwrite what appears meanwhile, and leaves nothing staged', async () => {
      const { signal } = new AbortController();
      const texts = Array.from({ length: 10 }, (_, i) => `text ${i}`);
      const outcomes = await Promise.allSettled(texts.map((text) => createFile(editor.at('a'), text, signal)));
      const [winner, ...others] = texts.filter((_, i) => outcomes[i]?.status === 'fulfilled');
      expect(others).to.deep.equal([]);
      expect(editor.read('a')).to.equal(winner);
      expect(readdirSync(editor.workspace)).to.deep.equal(['a']);
    });

    it('fails below a file', async () => {
      editor.write('a', '');
      expect(await editor.refusal('create', 'a/b', { file_text: '' })).to.deep.equal([
        'a part of W/a/b is not a directory',
        'FS_NOT_DIRECTORY',
      ]);
    });
  });

  describe('str_replace', () => {
    it('replaces the one place, literally, and says where', async () => {
      editor.write('a', 'one\ntwo $& (.*)\nthree');
      expect(await editor.edit('str_replace', 'a', { old_str: 'two $& (.*)', new_str: '$& $1 $$' })).to.equal(
        'Replaced the text at line 2 of W/a.',
      );
      expect(editor.read('a')).to.equal('one\n$& $1 $$\nthree');
    });

    it('deletes without new_str', async () => {
      editor.write('a', 'a\nb\nc\n');
      await editor.edit('str_replace', 'a', { old_str: 'b\n' });
      expect(editor.read('a')).to.equal('a\nc\n');
    });

    it('changes nothing but the place, whatever the text', async () => {
      const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r\n', '🔥', '\ufeff', '$&') });
      await fc.assert(
        fc.asyncProperty(text, text, text, async (before, after, replacement) => {
          editor.write('a', `${before}<OLD>${after}`);
          await editor.edit('str_replace', 'a', { old_str: '<OLD>', new_str: replacement });
          expect(editor.read('a')).to.equal(before + replacement + after);
        }),
        runs(40),
      );
    });

    const missing: readonly (readonly [string, string, string, string])[] = [
      ['no such text', 'abc', 'x', '; view the file and copy the text exactly'],
      ['another case', 'abc', 'ABC', '; view the file and copy the text exactly'],
      ['other line ends', 'a\r\nb\r\n', 'a\nb', ', whose lines end with CRLF: write \\r\\n in old_str'],
    ];
    for (const [title, text, old_str, hint] of missing) {
      it(`fails for ${title}`, async () => {
        editor.write('a', text);
        expect(await editor.refusal('str_replace', 'a', { old_str, new_str: '' })).to.deep.equal([
          `old_str does not occur in W/a${hint}`,
          'FS_EDIT_NOT_FOUND',
        ]);
        expect(editor.read('a')).to.equal(text);
      });
    }

    const ambiguous: readonly (readonly [string, string, string])[] = [
      ['x\ny\nx\nx', 'x', 'in lines 1, 3, 4'],
      ['aaa', 'aa', 'all in line 1'],
      ['x\n'.repeat(11), 'x', 'in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more'],
      ['x\n'.repeat(10), 'x', 'in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10'],
    ];
    for (const [text, old_str, where] of ambiguous) {
      it(`fails for several places: ${where}`, async () => {
        editor.write('a', text);
        expect(await editor.refusal('str_replace', 'a', { old_str, new_str: 'z' })).to.deep.equal([
          `old_str occurs more than once in W/a, ${where}: add context to it`,
          'FS_AMBIGUOUS_EDIT',
        ]);
        expect(editor.read('a')).to.equal(text);
      });
    }
  });

  describe('insert', () => {
    for (const [line, expected] of [
      [0, 'new\na\nb\n'],
      [1, 'a\nnew\nb\n'],
      [2, 'a\nb\nnew\n'],
      [3, 'a\nb\n\nnew'],
    ] as const) {
      it(`inserts after line ${line}`, async () => {
        editor.write('a', 'a\nb\n');
        expect(await editor.edit('insert', 'a', { insert_line: line, new_str: 'new' })).to.equal(
          `Inserted the text after line ${line} of W/a.`,
        );
        expect(editor.read('a')).to.equal(expected);
      });
    }

    it('inserts several lines, and into an empty file', async () => {
      editor.write('a', '');
      await editor.edit('insert', 'a', { insert_line: 0, new_str: '1\n2' });
      expect(editor.read('a')).to.equal('1\n2\n');
    });

    it('fails beyond the end', async () => {
      editor.write('a', 'a\nb\n');
      expect(await editor.refusal('insert', 'a', { insert_line: 4, new_str: '' })).to.deep.equal([
        'insert_line is 4, it must be between 0 and 3, the number of lines',
        'INVALID_ARGS',
      ]);
    });
  });
});
