import type { CallContext, HandlerCall } from '../../contract/call/handler.js';
import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { listed, mistakeItems, refuseMistakes, type Warning } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { DbClient } from '../../storage/database/database.js';
import { type Scoped, scopeOf } from '../../storage/database/scoped.js';
import type { ControlProposal } from './control-proposal.js';
import { type ControlDefinition, isDraft, type StoredControl } from './definition/definition.js';
import { definitionWarnings } from './definition-warnings/definition-warnings.js';
import { hiddenWarnings } from './hidden-controls.js';
import { withItems } from './reference-problems.js';

/** An expression that the schemas of registered steps contradict. */
export interface RefusedExpression {
  readonly expression: string;
  /** The problem as a warning, for a control that has the expression already. */
  readonly warning: Warning;
}

/** What the registrations of agents say about a definition. */
export interface RegistrationReview {
  readonly notes: readonly Warning[];
  readonly refused: readonly RefusedExpression[];
}

/** References in a definition that are missing in the registrations of agents, or contradict them. Never rejects. */
export type RegistrationNotes = (scope: Scoped, definition: ControlDefinition) => Promise<RegistrationReview>;

export interface ReviewOptions {
  readonly registry: EvaluatorRegistry;
  readonly registrationNotes: RegistrationNotes;
  /** Whether warnings about the written data are always rejected, or only when a request asks for it. */
  readonly strict: boolean;
}

/** Review of a proposed control. */
export interface Review {
  readonly warnings: Warning[];
  /**
   * Throws a VALIDATION_ERROR when strict mode rejects the written data, or when registered schemas contradict an
   * expression. One that the control has already, `stored` being its data, is warned of instead: schemas are registered at
   * any time, and must not prevent other changes of a control.
   */
  demandAcceptable(stored: string | null): void;
  /** The error, with the problems for which strict mode rejects the data as further items. */
  completed(error: ServiceError): ServiceError;
}

/** Reviews data to be stored, before a transaction begins. */
export function createReviewer({ registry, registrationNotes, strict }: ReviewOptions) {
  const findingsOf = async (
    context: CallContext,
    client: DbClient,
    control: StoredControl,
    controlId?: number,
  ): Promise<{ readonly warnings: Warning[]; readonly refused: readonly RefusedExpression[] }> => {
    const { agents } = context.principal;
    const scope = scopeOf(context, client);
    // Notes quote what other agents have registered.
    const { notes, refused } =
      isDraft(control) || agents !== null ? NO_NOTES : await registrationNotes(scope, control);
    const hidden =
      isDraft(control) || agents !== null || controlId === undefined
        ? []
        : await hiddenWarnings(scope, controlId, control, registry);
    return { warnings: listed(definitionWarnings(control, registry), hidden, notes), refused };
  };
  return {
    /** The warnings of an already stored control; with its id, those that depend on its agents as well. */
    async warningsOf(
      context: CallContext,
      client: DbClient,
      control: StoredControl,
      controlId?: number,
    ): Promise<Warning[]> {
      const { warnings, refused } = await findingsOf(context, client, control, controlId);
      return listed(warningsOf(refused), warnings);
    },

    /** `asked`: whether the request sets strict mode. `controlId`: the control that has the data, or gets them. */
    async review(
      context: HandlerCall,
      client: DbClient,
      proposal: ControlProposal,
      asked: boolean,
      controlId?: number,
    ): Promise<Review> {
      const control = proposedControl(proposal);
      const found = control === null ? null : await findingsOf(context, client, control, controlId);
      const refused = found?.refused ?? [];
      const warnings = listed(context.ignoredParts(), found?.warnings ?? []);
      return {
        warnings,
        demandAcceptable(stored) {
          if (strict || asked) refuseMistakes(warnings, 'Control');
          const isKept = ({ expression }: RefusedExpression): boolean => hasExpression(stored, expression);
          refuseExpressions(refused.filter((one) => !isKept(one)));
          warnings.push(...warningsOf(refused));
        },
        completed(error) {
          const mistakes = strict || asked ? mistakeItems(warnings, 'Control', error.options.items) : [];
          return withItems(error, [], [...refused.map(itemOf), ...mistakes]);
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

const NO_NOTES: RegistrationReview = { notes: [], refused: [] };

function warningsOf(refused: readonly RefusedExpression[]): Warning[] {
  return refused.map(({ warning }) => warning);
}

function itemOf({ warning, expression }: RefusedExpression): ErrorItem {
  const { code, field, message } = warning;
  return { resource: 'Control', field, code, message, value: expression };
}

function refuseExpressions(refused: readonly RefusedExpression[]): void {
  if (refused.length === 0) return;
  throw new ServiceError('VALIDATION_ERROR', {
    detail: `Request validation failed: the registered schemas of steps contradict the expression in ${refused.length} place(s).`,
    hint: 'Each entry of errors names the place and what is wrong there. Correct the expression, or register the schemas that the steps have.',
    kind: 'Control',
    items: refused.map(itemOf),
  });
}

/** Whether the stored data of a control have an expression, anywhere in them. */
function hasExpression(stored: string | null, expression: string): boolean {
  return stored?.includes(JSON.stringify(expression)) === true;
}

/** Null for one that is rejected anyway. */
function proposedControl(proposal: ControlProposal): StoredControl | null {
  try {
    return proposal.storedInPlaceOf(null);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}
