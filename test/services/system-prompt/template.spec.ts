import { expect } from 'chai';
import * as fc from 'fast-check';
import { fillTemplate } from '../../../src/services/system-prompt/template.js';

const VALUES = { cwd: '/ws', model: '{{cwd}}', provider: '$& $1', empty: '' };

describe('fillTemplate', () => {
  const filled: readonly [string, string, string][] = [
    ['without groups', 'plain } { text', 'plain } { text'],
    ['a group in text', 'in {{cwd}}.', 'in /ws.'],
    ['groups side by side', '{{cwd}}{{cwd}}', '/ws/ws'],
    ['a value that looks like a group, unscanned', '{{model}}', '{{cwd}}'],
    ['a value with replacement patterns, as it is', '{{provider}}', '$& $1'],
    ['an opening without a closing, as it is', '{{cwd}} {{cwd', '/ws {{cwd'],
    ['a closing without an opening, as it is', 'cwd}} {{cwd}}', 'cwd}} /ws'],
    ['the empty template', '', ''],
  ];
  for (const [what, template, text] of filled) {
    it(`gives ${what}`, () => {
      expect(fillTemplate('t', template, VALUES)).to.equal(text);
    });
  }

  const refused: readonly [string, string, string][] = [
    ['an unknown name', '{{nope}}', 't: {{nope}} is not known: there are cwd, model, provider, empty'],
    [
      'a name of Object.prototype',
      '{{constructor}}',
      't: {{constructor}} is not known: there are cwd, model, provider, empty',
    ],
    ['a name without a value', '{{empty}}', 't: {{empty}} has no value'],
    ['a capital letter', '{{Cwd}}', 't: {{Cwd}} is no variable: write {{name}}'],
    ['blanks', '{{ cwd }}', 't: {{ cwd }} is no variable: write {{name}}'],
    ['an empty group', 'a {{}} b', 't: {{}} is no variable: write {{name}}'],
    ['three braces', '{{{cwd}}}', 't: {{{cwd}} is no variable: write {{name}}'],
  ];
  for (const [what, template, message] of refused) {
    it(`refuses ${what}`, () => {
      expect(() => fillTemplate('t', template, VALUES))
        .to.throw(message)
        .with.property('code', 'INVALID_PROMPT_TEMPLATE');
    });
  }

  it('leaves any text without a complete group as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', 'a', ' ', '\n', '😀') }), (text) => {
        expect(fillTemplate('t', text, VALUES)).to.equal(text);
      }),
    );
  });
});
