import 'reflect-metadata';
import { restore } from 'sinon';

export const mochaHooks = {
  afterEach(): void {
    restore();
  },
};
