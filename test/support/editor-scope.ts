import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { editorModule } from '../../src/tools/editor/editor.module.js';
import { ToolScope, textOf } from './tool-scope.js';

const EDITOR = 'str_replace_editor';

/** A session with the editor, in a workspace of its own. Texts show the workspace as `W`. */
export class EditorScope {
  readonly workspace = realpathSync(mkdtempSync(join(tmpdir(), 'editor-test-')));
  #tools!: ToolScope;

  static async open(config: object = {}): Promise<EditorScope> {
    const scope = new EditorScope();
    scope.#tools = await ToolScope.open({ modules: [{ module: editorModule, config }], cwd: scope.workspace });
    return scope;
  }

  get tools(): ToolScope {
    return this.#tools;
  }

  at(name: string): string {
    return join(this.workspace, name);
  }
  read(name: string): string {
    return readFileSync(this.at(name), 'utf8');
  }
  write(name: string, text: string | Uint8Array): void {
    writeFileSync(this.at(name), text);
  }

  /** Runs a command on a path in the workspace; fails when it is refused. */
  async edit(command: string, name: string, args: object = {}): Promise<string> {
    const outcome = await this.#tools.call(EDITOR, { command, path: this.at(name), ...args });
    if (outcome.isError) throw new Error(textOf(outcome));
    return textOf(outcome).replaceAll(this.workspace, 'W');
  }

  /** Why a command is refused, and the code if there is one. */
  async refusal(command: string, name: string, args: object = {}): Promise<readonly [string, string?]> {
    const outcome = await this.#tools.call(EDITOR, { command, path: this.at(name), ...args });
    expect(outcome.isError).to.equal(true);
    const text = textOf(outcome)
      .replaceAll(this.workspace, 'W')
      .replace(/^Error: /, '');
    return outcome.error === undefined ? [text] : [text, outcome.error.code];
  }

  async close(): Promise<void> {
    await this.#tools.close();
    rmSync(this.workspace, { recursive: true, force: true });
  }
}
