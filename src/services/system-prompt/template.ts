import { CodedError, headOf } from '../../base/index.js';

/**
 * Fills in every `{{name}}` (runtime §4.13). Values are not scanned again, an opening without a closing is plain text,
 * and there is no escape.
 *
 * @param where names the template in messages
 * @throws CodedError `INVALID_PROMPT_TEMPLATE` for a group that is no name, names nothing known, or has no value
 */
export function fillTemplate(where: string, template: string, values: Readonly<Record<string, string>>): string {
  let filled = '';
  let at = 0;
  for (;;) {
    const open = template.indexOf('{{', at);
    const close = open < 0 ? -1 : template.indexOf('}}', open + 2);
    if (close < 0) return filled + template.slice(at);
    filled += template.slice(at, open) + lookUp(where, template.slice(open + 2, close), values);
    at = close + 2;
  }
}

function lookUp(where: string, name: string, values: Readonly<Record<string, string>>): string {
  const group = `{{${headOf(name, 40)}}}`;
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw invalid(where, `${group} is no variable: write {{name}}`);
  if (!Object.hasOwn(values, name)) {
    throw invalid(where, `${group} is not known: there are ${Object.keys(values).join(', ')}`);
  }
  const value = values[name];
  if (value === undefined || value === '') throw invalid(where, `${group} has no value`);
  return value;
}

function invalid(where: string, what: string): CodedError {
  return new CodedError('INVALID_PROMPT_TEMPLATE', `${where}: ${what}`);
}
