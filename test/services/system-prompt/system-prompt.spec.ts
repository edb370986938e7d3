import { expect } from 'chai';
import { PromptSection, SystemPrompt } from '../../../src/agent/index.js';
import { Scope } from '../../../src/kernel/index.js';
import { SectionedSystemPrompt } from '../../../src/services/system-prompt/sectioned-system-prompt.js';
import { systemPromptModule } from '../../../src/services/system-prompt/system-prompt.module.js';

const VARIABLES = { provider: 'p', model: 'm', cwd: '/ws' };

describe('SectionedSystemPrompt', () => {
  const prompt = new SectionedSystemPrompt();

  it('orders sections by number, then by name, with a blank line between', () => {
    const sections = [
      { name: 'z', order: 5, text: 'five z' },
      { name: 'last', order: 10_000, text: '{{cwd}}\n' },
      { name: 'a', order: 5, text: 'five a' },
      { name: 'persona', order: 0, text: 'I am {{model}} of {{provider}}' },
    ];
    expect(prompt.assemble(sections, VARIABLES)).to.equal('I am m of p\n\nfive a\n\nfive z\n\n/ws');
  });

  it('leaves blank sections out, and gives nothing when all are blank', () => {
    const blank = { name: 'blank', order: 1, text: ' \n' };
    expect(prompt.assemble([blank, { name: 'a', order: 2, text: 'a' }], VARIABLES)).to.equal('a');
    expect(prompt.assemble([blank], VARIABLES)).to.equal(undefined);
    expect(prompt.assemble([], VARIABLES)).to.equal(undefined);
  });

  it('lets the first section of a name stand for it', () => {
    const own = { name: 'persona', order: 0, text: 'of the session' };
    expect(prompt.assemble([own, { ...own, text: 'of the runtime' }], VARIABLES)).to.equal('of the session');
  });

  it('names the section whose template is broken', () => {
    expect(() => prompt.assemble([{ name: 'house rules', order: 1, text: '{{nope}}' }], VARIABLES)).to.throw(
      'prompt section "house rules": {{nope}} is not known: there are provider, model, cwd',
    );
  });
});

describe('systemPromptModule', () => {
  async function assembled(config: unknown): Promise<string | undefined> {
    const scope = Scope.root('test');
    const { runtime } = await systemPromptModule.configure(config);
    if (runtime === undefined) throw new Error('it has a runtime part');
    await scope.load(runtime);
    return scope.get(SystemPrompt).assemble(scope.all(PromptSection), VARIABLES);
  }

  it('says who the model is, and at the end where it works', async () => {
    const text = await assembled(undefined);
    expect(text).to.match(/^You are a software engineer .*\n\nWorking directory: \/ws$/);
  });

  it('takes another persona, or none', async () => {
    expect(await assembled({ personaPrefix: 'You are {{model}}.' })).to.equal('You are m.\n\nWorking directory: /ws');
    expect(await assembled({ personaPrefix: '' })).to.equal('Working directory: /ws');
  });

  it('ends with another suffix, or none', async () => {
    const config = { personaPrefix: 'You are.', personaSuffix: '' };
    expect(await assembled(config)).to.equal('You are.');
    expect(await assembled({ ...config, personaSuffix: 'In {{cwd}}.' })).to.equal('You are.\n\nIn /ws.');
  });

  it('fails the boot on a template that no turn could fill', async () => {
    const failure = await assembled({ personaSuffix: 'In {{dir}}.' }).catch((thrown: unknown) => thrown);
    expect(failure)
      .to.be.an('error')
      .with.property('message', 'personaSuffix: {{dir}} is not known: there are provider, model, cwd');
  });

  for (const [config, message] of [
    [{ personaPrefix: 7 }, 'personaPrefix: personaPrefix must be a string'],
    [{ personaSuffix: null }, 'personaSuffix: personaSuffix must be a string'],
    [{ persona: 'x' }, 'persona: is unknown; allowed: personaPrefix, personaSuffix'],
  ] as const) {
    it(`refuses the config ${JSON.stringify(config)}`, async () => {
      const thrown = await systemPromptModule.configure(config).catch((error: unknown) => error);
      expect(thrown).to.be.an('error').with.property('message', message);
    });
  }
});
