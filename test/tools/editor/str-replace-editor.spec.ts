import { expect } from 'chai';
import { Tool } from '../../../src/tool/index.js';
import { editorModule } from '../../../src/tools/editor/editor.module.js';
import { EditorConfig } from '../../../src/tools/editor/editor-config.js';
import { EditorScope } from '../../support/editor-scope.js';
import { textOf } from '../../support/tool-scope.js';

describe('str_replace_editor', () => {
  let editor: EditorScope;
  beforeEach(async () => {
    editor = await EditorScope.open();
  });
  afterEach(() => editor.close());

  it('refuses a relative path, with what was probably meant', async () => {
    const outcome = await editor.tools.call('str_replace_editor', { command: 'view', path: 'src/a.ts' });
    expect(outcome.error?.code).to.equal('INVALID_ARGS');
    expect(textOf(outcome)).to.equal(
      `Error: path must be absolute, src/a.ts is relative: did you mean ${editor.workspace}/src/a.ts?`,
    );
  });

  for (const [args, message] of [
    [{ command: 'create' }, 'create needs file_text'],
    [{ command: 'str_replace' }, 'str_replace needs old_str'],
    [{ command: 'insert', new_str: 'a' }, 'insert needs insert_line'],
    [{ command: 'insert', insert_line: 0 }, 'insert needs new_str'],
    [
      { command: 'delete' },
      'command must be equal to one of the allowed values ("view", "create", "str_replace", "insert")',
    ],
    [{ command: 'str_replace', old_str: '' }, 'old_str must NOT have fewer than 1 characters'],
    [{ command: 'view', view_range: [1] }, 'view_range must NOT have fewer than 2 items'],
    [{ command: 'insert', insert_line: 1.5, new_str: '' }, 'insert_line must be integer'],
    [{ command: 'view', path: '/a\0b' }, 'path must not contain a NUL character'],
  ] as const) {
    it(`refuses ${JSON.stringify(args)}`, async () => {
      editor.write('a', 'a');
      const [message_, code] = await editor.refusal(args.command, 'a', args);
      expect(message_).to.contain(message);
      expect(code).to.equal('INVALID_ARGS');
    });
  }

  it('lets views run beside others, and nothing else', () => {
    const tool = editor.tools.scope.all(Tool).find(({ name }) => name === 'str_replace_editor');
    const safe = ['view', 'create', 'str_replace', 'insert'].filter((command) =>
      tool?.isConcurrencySafe?.({ command }),
    );
    expect(safe).to.deep.equal(['view']);
  });

  it('shows 16000 characters by default', () => {
    expect(editor.tools.scope.get(EditorConfig).maxOutputChars).to.equal(16_000);
  });

  for (const config of [{ maxOutputChars: 0 }, { maxOutputChars: 'many' }, { other: 1 }]) {
    it(`refuses the config ${JSON.stringify(config)}`, async () => {
      const thrown = await editorModule.configure(config).catch((error: unknown) => error);
      expect(thrown).to.have.property('code', 'INVALID_CONFIG');
    });
  }
});
