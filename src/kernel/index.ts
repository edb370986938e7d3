export { ConfigError, type ConfigViolation } from './config-error.js';
export type { JsonSchemaConfig } from './json-schema-config.js';
export { Startable } from './lifecycle.js';
export { type ConfiguredModule, defineModule, type ModuleDefinition, type ModuleSpec } from './module.js';
export { schemaValidator, violationFacts, violationPath } from './schema-validator.js';
export { CurrentScope, Scope } from './scope.js';
export { contributionPoint, isContributionPoint, serviceId, tokenName } from './tokens.js';
