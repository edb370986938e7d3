import { ContainerModule } from 'inversify';
import { defineModule } from '../../kernel/index.js';
import { Tool } from '../../tool/index.js';
import { EditorConfig } from './editor-config.js';
import { StrReplaceEditor } from './str-replace-editor.js';

/** Contributes the tool `str_replace_editor` to the runtime. */
export const editorModule = defineModule({
  name: 'tool-str-replace-editor',
  config: EditorConfig,
  runtime: (config) =>
    new ContainerModule(({ bind }) => {
      bind(EditorConfig).toConstantValue(config);
      bind(Tool).to(StrReplaceEditor);
    }),
});
