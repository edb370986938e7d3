import { expect } from 'chai';
import { ContainerModule, inject, injectable, multiInject, optional } from 'inversify';
import { CurrentScope, contributionPoint, Scope, serviceId } from '../../src/kernel/index.js';

interface Greeter {
  greet(): string;
}
const Greeter = serviceId<Greeter>('test/Greeter');
const Part = contributionPoint<string>('test/Part');

describe('Scope', () => {
  it('builds singletons that can defer their end, and ends them in reverse of construction', async () => {
    const log: string[] = [];
    const Low = serviceId<object>('test/Low');
    const High = serviceId<object>('test/High');
    @injectable()
    class LowService {
      constructor(@inject(CurrentScope) scope: Scope) {
        scope.defer('low', () => void log.push('low'));
      }
    }
    @injectable()
    class HighService {
      constructor(@inject(Low) _low: object, @inject(CurrentScope) scope: Scope) {
        scope.defer('high', () => void log.push('high'));
      }
    }
    const scope = Scope.root('test');
    await scope.load(
      new ContainerModule(({ bind }) => {
        bind(High).to(HighService);
        bind(Low).to(LowService);
      }),
    );
    scope.resolveAll();
    expect(scope.get(High)).to.equal(scope.get(High));
    await scope.close();
    expect(log).to.deep.equal(['high', 'low']);
  });

  it('gives contributions in binding order, its own before its parent’s, and none as []', async () => {
    const scope = Scope.root('test');
    expect(scope.all(Part)).to.deep.equal([]);
    for (const part of ['a', 'b']) {
      await scope.load(new ContainerModule(({ bind }) => void bind(Part).toConstantValue(part)));
    }
    const child = scope.child('child');
    child.loadFenced(new ContainerModule(({ bind }) => void bind(Part).toConstantValue('c')), 'row');
    expect(child.all(Part)).to.deep.equal(['c', 'a', 'b']);
    expect(scope.all(Part)).to.deep.equal(['a', 'b']);
  });

  it('injects the scope a service lives in', () => {
    @injectable()
    class Service {
      constructor(
        @inject(CurrentScope) readonly scope: Scope,
        @multiInject(Part, { chained: true }) @optional() readonly parts: readonly string[],
      ) {}
    }
    const own = new ContainerModule(({ bind }) => void bind(Service).toSelf());
    const root = Scope.root('root');
    const [one, other] = [root.child('one'), root.child('other')];
    for (const child of [one, other]) child.loadFenced(own, 'row');
    expect(one.get(Service).scope).to.equal(one);
    expect(other.get(Service).scope).to.equal(other);
    expect(one.get(Service)).to.equal(one.get(Service));
  });

  it('ends a child without its parent', async () => {
    const log: string[] = [];
    const root = Scope.root('root');
    const child = root.child('child');
    root.defer('root', () => void log.push('root'));
    child.defer('child', () => void log.push('child'));
    await child.close();
    expect(log).to.deep.equal(['child']);
  });

  describe('fence', () => {
    const forbidden: readonly [string, ContainerModule][] = [
      ['bind again', new ContainerModule(({ bind }) => void bind(Greeter).toConstantValue({ greet: () => 'child' }))],
      ['unbind', new ContainerModule(({ unbind }) => void unbind(Greeter))],
      ['rebind', new ContainerModule(({ rebind }) => void rebind(Greeter))],
    ];
    for (const [verb, module] of forbidden) {
      it(`refuses a session module that would ${verb} what the runtime binds, naming both`, async () => {
        const root = Scope.root('root');
        await root.load(new ContainerModule(({ bind }) => void bind(Greeter).toConstantValue({ greet: () => 'root' })));
        const child = root.child('child');
        expect(() => child.loadFenced(module, 'my-row'))
          .to.throw(/my-row.*Greeter/)
          .with.property('code', 'SCOPE_FENCE');
        expect(root.get(Greeter).greet()).to.equal('root');
        expect(child.get(Greeter).greet()).to.equal('root');
      });
    }

    it('lets a session module bind services of its own', () => {
      const child = Scope.root('root').child('child');
      child.loadFenced(
        new ContainerModule(({ bind }) => void bind(Greeter).toConstantValue({ greet: () => 'own' })),
        'row',
      );
      expect(child.get(Greeter).greet()).to.equal('own');
      expect(child.find(serviceId('test/Nothing'))).to.equal(undefined);
    });
  });
});
