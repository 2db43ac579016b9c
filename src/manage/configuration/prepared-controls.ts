import { jsonEqual, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { HandlerCall } from '../../contract/call/handler.js';
import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { listed, type Warning } from '../../contract/warnings/warning.js';
import { createPauses } from '../../decide/decisions/in-turns.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { DbClient } from '../../storage/database/database.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { type ControlProposal, proposeControl } from '../controls/control-proposal.js';
import type { Reviewer } from '../controls/control-review.js';
import type { ControlRow } from '../controls/control-store.js';
import { isDraft, leavesOf, type StoredControl } from '../controls/definition/definition.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import type { ReferenceProblems } from '../controls/reference-problems.js';
import { type DesiredControl, kindOfControl } from './configuration-object.js';
import { placedItems } from './configuration-problems.js';

export interface PreparationOptions {
  readonly client: DbClient;
  readonly registry: EvaluatorRegistry;
  readonly reviewer: Reviewer;
}

/** A control of a document as it is to be stored. */
export interface PreparedControl {
  readonly desired: DesiredControl;
  readonly control: StoredControl;
  /** The text by which it is stored. */
  readonly text: string;
  /** The stored text, if it means the same: by the order of members, or a shape of earlier versions. */
  readonly sameAs: string | null;
}

/** Controls of documents as they are to be stored, and what is wrong with them. */
export interface Preparation {
  readonly controls: readonly PreparedControl[];
  readonly problems: readonly ErrorItem[];
  readonly warnings: Warning[];
}

/**
 * Renders templates, and reviews the controls that differ from the stored ones, before a transaction begins: `rows` are those
 * by name. Whether other controls hide them is a matter of lint, because links change as well.
 */
export async function prepareControls(
  context: HandlerCall,
  desired: readonly DesiredControl[],
  rows: ReadonlyMap<string, ControlRow>,
  strict: boolean,
  { client, registry, reviewer }: PreparationOptions,
): Promise<Preparation> {
  const controls: PreparedControl[] = [];
  const problems: ErrorItem[] = [];
  const warnings: Warning[] = [];
  const pause = createPauses();
  for (const one of desired) {
    const proposal = proposeControl(one.data, registry);
    const at = `documents[${one.index}]`;
    try {
      const control = storedControlOf(one, proposal);
      const text = stringifyJson(control);
      const stored = rows.get(one.name)?.data ?? null;
      const sameAs =
        stored !== null && stored !== text && meansSame(stored, control, registry) ? stored : null;
      if (stored !== text && sameAs === null) {
        const review = await reviewer.review(context, client, proposal, strict);
        review.demandAcceptable(stored);
        for (const warning of review.warnings) {
          // Those about the request as a whole come with every review.
          if (isAboutData(warning)) warnings.push({ ...warning, field: `${at}.${warning.field}` });
        }
      }
      controls.push({ desired: one, control, text, sameAs });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      problems.push(...placedItems(error, at));
    }
    await pause();
  }
  return { controls, problems, warnings: listed(warnings) };
}

/** The control of a document as it is stored. Throws a `ServiceError` whose items have fields of the document. */
export function storedControlOf(desired: DesiredControl, proposal: ControlProposal): StoredControl {
  const control = withEnabled(proposal.storedInPlaceOf(null), desired);
  demandKind(control, desired);
  return control;
}

/** What is wrong with references of controls to the registrations of agents. */
export async function referenceItems(
  context: HandlerCall,
  scope: Scoped,
  controls: readonly PreparedControl[],
  referenceProblems: ReferenceProblems,
): Promise<ErrorItem[]> {
  const items: ErrorItem[] = [];
  for (const { control, desired } of controls) {
    if (isDraft(control)) continue;
    const leaves = leavesOf(control.condition, 'data.condition');
    for (const { item } of await referenceProblems(scope, leaves, context.principal.agents)) {
      items.push({ ...item, field: `documents[${desired.index}].${item.field ?? 'data'}` });
    }
  }
  return items;
}

function meansSame(stored: string, control: StoredControl, registry: EvaluatorRegistry): boolean {
  const read = readStoredDefinition(stored, registry);
  return read.ok && jsonEqual(read.stored, control);
}

function isAboutData({ field }: Warning): boolean {
  return field.startsWith('data') || field.startsWith('template');
}

/** A template says by its document whether it is enabled; everything else by its definition. */
function withEnabled(control: StoredControl, { enabled }: DesiredControl): StoredControl {
  if (enabled === null || control.template === undefined) return control;
  if (!isDraft(control)) return { ...control, enabled };
  if (!enabled) return control;
  throw problem('enabled', 'value_error', 'must be false: values of the template are missing');
}

function demandKind(control: StoredControl, { kind }: DesiredControl): void {
  if (kind === 'Control' || kind === kindOfControl(control)) return;
  throw problem('kind', 'value_error', KIND_RULES[kind]);
}

const KIND_RULES = {
  Template: 'is Template, and data has no template',
  Limit: 'is Limit, and no condition checks a rate, budget, concurrency or loop',
  Approval: 'is Approval, and data.action has no approval',
} as const;

function problem(field: string, code: string, message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    detail: message,
    items: [{ resource: 'Control', field, code, message }],
  });
}
