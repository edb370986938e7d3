import { existsSync, promises, readdirSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { stub } from 'sinon';
import { createProfile, loadProfile } from '../../src/profile/index.js';
import { fsError, useFsFaults } from '../support/fs-faults.js';
import { useHome } from '../support/home.js';
import { rejectionOf } from '../support/rejection-of.js';

describe('createProfile', () => {
  const home = useHome();
  useFsFaults();

  it('makes a profile that extends the template', async () => {
    await createProfile(home.path, 'mine', 'sdk-minimal');
    const [mine, shipped] = await Promise.all(
      ['mine', 'sdk-minimal'].map((name) => loadProfile({ name, home: home.path })),
    );
    expect(mine?.rows).to.deep.equal(shipped?.rows);
  });

  const refused: readonly (readonly [name: string, template: string, code: string, message: string])[] = [
    ['sdk', 'sdk', 'PROFILE_EXISTS', '"sdk" is a shipped profile: give yours another name'],
    ['mine', 'nope', 'UNKNOWN_TEMPLATE', 'there is no template "nope"; there are sdk, sdk-minimal'],
    ['a/b', 'sdk', 'INVALID_PROFILE_NAME', '"a/b" is not a profile name'],
  ];
  for (const [name, template, code, message] of refused) {
    it(`refuses to make ${name} from ${template}, and leaves nothing`, async () => {
      const failure = await rejectionOf(createProfile(home.path, name, template));
      expect(failure).to.include({ code, message });
      expect(readdirSync(home.path)).to.deep.equal([]);
    });
  }

  it('never touches a directory that is there', async () => {
    const file = home.write('profiles/mine/notes.txt', 'x');
    expect(await rejectionOf(createProfile(home.path, 'mine', 'sdk'))).to.have.property('code', 'PROFILE_EXISTS');
    expect(readFileSync(file, 'utf8')).to.equal('x');
  });

  it('lets one of many through', async () => {
    const tries = Array.from({ length: 8 }, () => createProfile(home.path, 'mine', 'sdk'));
    const made = (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled');
    expect(made).to.have.lengthOf(1);
    await loadProfile({ name: 'mine', home: home.path });
  });

  it('takes the directory away again when the file cannot be written', async () => {
    stub(promises, 'writeFile').rejects(fsError('ENOSPC'));
    syncBuiltinESMExports();
    const failure = await rejectionOf(createProfile(home.path, 'mine', 'sdk'));
    expect(failure).to.have.property('code', 'ENOSPC');
    expect(existsSync(join(home.path, 'profiles', 'mine'))).to.equal(false);
  });
});
