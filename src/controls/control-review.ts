import type { HandlerCall } from '../contract/call/handler.js';
import { ServiceError } from '../contract/errors/service-error.js';
import { listed, refuseMistakes, type Warning } from '../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import type { DbClient } from '../database/database.js';
import type { ControlProposal } from './control-proposal.js';
import { type ControlDefinition, isDraft, type StoredControl } from './definition.js';
import { definitionWarnings } from './definition-warnings/definition-warnings.js';

/** What a definition names that the registrations of agents do not have. Never rejects. */
export type RegistrationNotes = (client: DbClient, definition: ControlDefinition) => Promise<Warning[]>;

export interface ReviewOptions {
  readonly registry: EvaluatorRegistry;
  readonly registrationNotes: RegistrationNotes;
  /** Whether warnings about what was written are refused whether or not a request asks for it. */
  readonly strict: boolean;
}

/** What there is to say about a proposed control. */
export interface Review {
  readonly warnings: Warning[];
  /** Throws a VALIDATION_ERROR when strict mode refuses what was written. */
  demandAcceptable(): void;
}

/** Reviews what clients want to store, before a transaction begins. */
export function createReviewer({ registry, registrationNotes, strict }: ReviewOptions) {
  const warningsOf = async (client: DbClient, control: StoredControl): Promise<Warning[]> => {
    const notes = isDraft(control) ? [] : await registrationNotes(client, control);
    return listed(definitionWarnings(control, registry), notes);
  };
  return {
    /** The warnings of a control that is stored already. */
    warningsOf,

    /** `asked`: whether the request asks for strict mode. */
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

    /** Throws a VALIDATION_ERROR when strict mode refuses what warnings of a change are about. */
    demandEffect(warnings: readonly Warning[], asked: boolean): void {
      if (strict || asked) refuseMistakes(warnings, 'Control');
    },
  };
}

export type Reviewer = ReturnType<typeof createReviewer>;

/** Null for one that is refused in any case. */
function proposedControl(proposal: ControlProposal): StoredControl | null {
  try {
    return proposal.storedInPlaceOf(null);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}
