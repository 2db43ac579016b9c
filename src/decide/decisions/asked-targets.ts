import { orAborted } from '../../contract/call/or-aborted.js';
import type { EvaluationService } from './evaluation-service.js';

/** The same service where another one decides which targets a caller may evaluate for: it may have to be asked first. */
export function withAskedTargets(service: EvaluationService): EvaluationService {
  return {
    evaluate(request, detail, caller) {
      const { target } = request;
      const asked = target === null ? undefined : caller.askTarget?.(target);
      if (asked === undefined) return service.evaluate(request, detail, caller);
      return orAborted(asked, caller.signal).then(() => service.evaluate(request, detail, caller));
    },
  };
}
