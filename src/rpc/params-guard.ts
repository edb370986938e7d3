import { type ValidationError, validateSync } from 'class-validator';
import { injectable, type Newable } from 'inversify';
import { serviceId } from '../kernel/index.js';
import { type JsonObject, JsonRpcResponseError, type ParamsViolation } from '../protocol/index.js';

/** Judges the params of a request once, at the border. */
export interface ParamsGuard {
  /** @throws JsonRpcResponseError -32602 with every violation in `data.violations` (decisions 3, 4) */
  judge<P extends object>(type: Newable<P>, params: JsonObject): P;
}
/** Runtime scope; the one place where params are judged. */
export const ParamsGuard = serviceId<ParamsGuard>('ParamsGuard');

/** A constraint that judges a nested value itself hands this as its `context`, for paths inside that value. */
export interface ViolationLocator {
  locate(value: unknown, path: string): ParamsViolation[];
}

/**
 * Assigns the known members shallowly and validates: foreign data is neither copied nor rewritten, names such as
 * `__proto__` are never assigned, and depth is the business of the constraint that knows its bound.
 */
@injectable()
export class ClassValidatorParamsGuard implements ParamsGuard {
  judge<P extends object>(type: Newable<P>, params: JsonObject): P {
    const dto = new type();
    for (const member of Object.keys(dto)) {
      if (Object.hasOwn(params, member)) Object.assign(dto, { [member]: params[member] });
    }
    const errors = validateSync(dto, { forbidUnknownValues: false, stopAtFirstError: true });
    if (errors.length > 0) throw JsonRpcResponseError.invalidParams(errors.flatMap(violationsOf));
    return dto;
  }
}

function violationsOf(error: ValidationError): ParamsViolation[] {
  const path = error.property;
  return Object.entries(error.constraints ?? {}).flatMap(([constraint, message]) => {
    const locator = error.contexts?.[constraint] as ViolationLocator | undefined;
    const located = locator?.locate(error.value, path) ?? [];
    return located.length > 0 ? located : [{ path, constraint, message }];
  });
}
