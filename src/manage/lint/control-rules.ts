import { isObject } from '../../../packages/exact-json/src/index.js';
import { quoted } from '../../contract/errors/quoted.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { configPath } from '../../kernel/evaluators/config/config-members.js';
import { isDraft, leavesOf, type PlacedLeaf, type StoredControl } from '../controls/definition/definition.js';
import { definitionWarnings } from '../controls/definition-warnings/definition-warnings.js';
import { finding, type LintFinding, ruleOfWarning } from './lint-rules.js';

/** What the rules about one definition need. */
export interface DefinitionFacts {
  /** The evaluators that the documents were read with. */
  readonly registry: EvaluatorRegistry;
  /** Those with memory, with the windows of the service. */
  readonly kept: EvaluatorRegistry;
}

/** What is found in a definition alone, whatever agents and other controls there are. */
export function* controlFindings(
  control: StoredControl,
  document: number,
  { registry, kept }: DefinitionFacts,
): Generator<LintFinding, void> {
  for (const warning of definitionWarnings(control, registry)) {
    const rule = ruleOfWarning(warning);
    if (rule !== null) yield finding(rule, document, fieldInDocument(warning.field), warning.message);
  }
  if (isDraft(control)) return;
  yield* steeringFindings(control, document);
  for (const placed of leavesOf(control.condition, 'data.condition')) {
    yield* thresholdFindings(placed, document, registry);
    yield* windowFindings(placed, document, kept);
  }
}

/** Values of templates are beside the definition in other requests. */
export function fieldInDocument(field: string): string {
  return field.startsWith('template_values') ? `data.${field}` : field;
}

function* steeringFindings(
  { action }: Exclude<StoredControl, { condition?: never }>,
  document: number,
): Generator<LintFinding, void> {
  if (action.decision !== 'steer') return;
  const { steering_context: context } = action;
  if (context === undefined) {
    const message =
      'the control steers without a steering_context, so the agent does not learn what to do instead';
    yield finding('missing-steering-message', document, 'data.action', message);
  } else if (context.message.trim() === '') {
    const message = 'the message is blank, so the agent does not learn what to do instead';
    yield finding('missing-steering-message', document, 'data.action.steering_context.message', message);
  }
}

function* thresholdFindings(
  { leaf, path }: PlacedLeaf,
  document: number,
  registry: EvaluatorRegistry,
): Generator<LintFinding, void> {
  const { name, config } = leaf.evaluator;
  const properties = registry.get(name)?.configJsonSchema.properties;
  if (!isObject(properties) || !Object.hasOwn(properties, 'threshold')) return;
  if ((config.threshold ?? null) !== null) return;
  const message = `${quoted(name)} has no threshold, so its default applies; write the one that was measured`;
  yield finding('detector-without-threshold', document, `${path}.evaluator.config`, message);
}

function* windowFindings(
  { leaf, path }: PlacedLeaf,
  document: number,
  kept: EvaluatorRegistry,
): Generator<LintFinding, void> {
  const { name, config } = leaf.evaluator;
  const evaluator = kept.get(name);
  if (evaluator === undefined) return;
  const read = evaluator.configSchema.safeParse(config);
  if (read.success) return;
  for (const { path: at, message } of read.error.issues) {
    const member = at.filter((part) => typeof part !== 'symbol');
    yield finding(
      'window-beyond-retention',
      document,
      configPath(`${path}.evaluator.config`, member),
      message,
    );
  }
}
