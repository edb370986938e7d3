/** `text` so that a row's config gives it back as it is: no `${env:…}` or `${home:…}` in it is filled in (decision 35). */
export function escapeReferences(text: string): string {
  return text.replaceAll(/\$\{(?:env|home):[^}]*\}/g, '$$$&');
}
