import type { InitializeHook, ResolveHook } from 'node:module';

/** What plugins are written with; a copy of their own goes first. */
const SUPPLIED = /^(dsh-inversify|inversify|reflect-metadata|class-validator|class-transformer)(\/|$)/;

let suppliedFrom = '';

/** Told where the running installation is: its own imports are what is supplied. */
export const initialize: InitializeHook<{ readonly parentURL: string }> = ({ parentURL }) => {
  suppliedFrom = parentURL;
};

/** A module hook (decision 32): what nobody else finds is looked for in the running installation. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await nextResolve(specifier, context);
  } catch (thrown) {
    if (!SUPPLIED.test(specifier)) throw thrown;
    return nextResolve(specifier, { ...context, parentURL: suppliedFrom });
  }
};
