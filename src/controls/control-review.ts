import type { CallContext, HandlerCall } from '../contract/call/handler.js';
import { ServiceError } from '../contract/errors/service-error.js';
import { listed, mistakeItems, refuseMistakes, type Warning } from '../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import type { DbClient } from '../database/database.js';
import { type Scoped, scopeOf } from '../database/scoped.js';
import type { ControlProposal } from './control-proposal.js';
import { type ControlDefinition, isDraft, type StoredControl } from './definition/definition.js';
import { definitionWarnings } from './definition-warnings/definition-warnings.js';
import { hiddenWarnings } from './hidden-controls.js';
import { withItems } from './reference-problems.js';

/** References in a definition that are missing in the registrations of agents. Never rejects. */
export type RegistrationNotes = (scope: Scoped, definition: ControlDefinition) => Promise<Warning[]>;

export interface ReviewOptions {
  readonly registry: EvaluatorRegistry;
  readonly registrationNotes: RegistrationNotes;
  /** Whether warnings about the written data are always rejected, or only when a request asks for it. */
  readonly strict: boolean;
}

/** Review of a proposed control. */
export interface Review {
  readonly warnings: Warning[];
  /** Throws a VALIDATION_ERROR when strict mode rejects the written data. */
  demandAcceptable(): void;
  /** The error, with the problems for which strict mode rejects the data as further items. */
  completed(error: ServiceError): ServiceError;
}

/** Reviews data to be stored, before a transaction begins. */
export function createReviewer({ registry, registrationNotes, strict }: ReviewOptions) {
  const warningsOf = async (
    context: CallContext,
    client: DbClient,
    control: StoredControl,
    controlId?: number,
  ): Promise<Warning[]> => {
    const { agents } = context.principal;
    const scope = scopeOf(context, client);
    // Notes quote what other agents have registered.
    const notes = isDraft(control) || agents !== null ? [] : await registrationNotes(scope, control);
    const hidden =
      isDraft(control) || agents !== null || controlId === undefined
        ? []
        : await hiddenWarnings(scope, controlId, control, registry);
    return listed(definitionWarnings(control, registry), hidden, notes);
  };
  return {
    /** The warnings of an already stored control; with its id, those that depend on its agents as well. */
    warningsOf,

    /** `asked`: whether the request sets strict mode. `controlId`: the control that has the data, or gets them. */
    async review(
      context: HandlerCall,
      client: DbClient,
      proposal: ControlProposal,
      asked: boolean,
      controlId?: number,
    ): Promise<Review> {
      const control = proposedControl(proposal);
      const own = control === null ? [] : await warningsOf(context, client, control, controlId);
      const warnings = listed(context.ignoredParts(), own);
      return {
        warnings,
        demandAcceptable() {
          if (strict || asked) refuseMistakes(warnings, 'Control');
        },
        completed: (error) =>
          strict || asked ? withItems(error, [], mistakeItems(warnings, 'Control')) : error,
      };
    },

    /** Throws a VALIDATION_ERROR when strict mode rejects the subject of a change's warnings. */
    demandEffect(warnings: readonly Warning[], asked: boolean): void {
      if (strict || asked) refuseMistakes(warnings, 'Control');
    },
  };
}

export type Reviewer = ReturnType<typeof createReviewer>;

/** Null for one that is rejected anyway. */
function proposedControl(proposal: ControlProposal): StoredControl | null {
  try {
    return proposal.storedInPlaceOf(null);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}
