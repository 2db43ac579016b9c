import type { HandlerCall } from '../contract/call/handler.js';
import { ServiceError } from '../contract/errors/service-error.js';
import { listed, refuseMistakes, type Warning } from '../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import type { DbClient } from '../database/database.js';
import type { ControlProposal } from './control-proposal.js';
import { type ControlDefinition, isDraft, type StoredControl } from './definition.js';
import { definitionWarnings } from './definition-warnings/definition-warnings.js';

/** References in a definition that are missing in the registrations of agents. Never rejects. */
export type RegistrationNotes = (client: DbClient, definition: ControlDefinition) => Promise<Warning[]>;

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
}

/** Reviews data to be stored, before a transaction begins. */
export function createReviewer({ registry, registrationNotes, strict }: ReviewOptions) {
  const warningsOf = async (client: DbClient, control: StoredControl): Promise<Warning[]> => {
    const notes = isDraft(control) ? [] : await registrationNotes(client, control);
    return listed(definitionWarnings(control, registry), notes);
  };
  return {
    /** The warnings of an already stored control. */
    warningsOf,

    /** `asked`: whether the request sets strict mode. */
    async review(
      context: HandlerCall,
      client: DbClient,
      proposal: ControlProposal,
      asked: boolean,
    ): Promise<Review> {
      const control = proposedControl(proposal);
      const own = control === null ? [] : await warningsOf(client, control);
      const warnings = listed(context.ignoredParts(), own);
      return {
        warnings,
        demandAcceptable() {
          if (strict || asked) refuseMistakes(warnings, 'Control');
        },
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
