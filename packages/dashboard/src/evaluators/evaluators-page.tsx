import { useQuery } from '@connectrpc/connect-query';
import { type EvaluatorInfo, EvaluatorService } from '@gen/enforcement/v1/evaluator_service_pb.js';
import { FilterBar, type FilterField } from '../ui/list/filter-fields.js';
import { NameLink } from '../ui/name-link.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { evaluatorKind, limitText } from './evaluator-kind.js';
import './evaluators.css';

const FILTERS: readonly FilterField[] = [{ name: 'text', label: 'Name or description contains' }];
const COLUMNS: Columns<EvaluatorInfo> = [
  {
    head: 'Evaluator',
    cell: ({ name }) => <NameLink href={`/evaluators/${encodeURIComponent(name)}`} name={name} />,
  },
  { head: 'Description', className: 'wrapped', dir: 'auto', cell: ({ description }) => description },
  { head: 'Kind', cell: evaluatorKind },
  { head: 'Version', cell: ({ version }) => <UserText text={version} /> },
  { head: 'Time limit', className: 'number', cell: ({ timeoutMs }) => limitText(timeoutMs) },
];

/** The evaluators that a control can use. */
export default function EvaluatorsPage() {
  const filter = useAddressFilter();
  const text = filter.get('text').toLowerCase();
  const query = useQuery(EvaluatorService.method.listEvaluators, {});
  const isFound = ({ name, description }: EvaluatorInfo) =>
    [name, description].some((one) => one.toLowerCase().includes(text));
  return (
    <Page title="Evaluators">
      <FilterBar fields={FILTERS} filter={filter} />
      <QueryState query={query} what="evaluators">
        {({ evaluators }) => (
          <Table
            label="Evaluators"
            columns={COLUMNS}
            rows={Object.values(evaluators)
              .filter(isFound)
              .sort((one, other) => one.name.localeCompare(other.name))}
            keyOf={({ name }) => name}
            empty={<Empty title="No evaluator matches the filter" />}
          />
        )}
      </QueryState>
      <p className="muted">
        An evaluator checks the part of a step that a selector selects. Evaluators of your own are modules
        named by <code>SERVICE_EVALUATORS</code>; evaluators that agents register are on the pages of these
        agents.
      </p>
    </Page>
  );
}
