import { useQuery } from '@connectrpc/connect-query';
import { EvaluatorService } from '@gen/enforcement/v1/evaluator_service_pb.js';
import { Link } from 'wouter';
import { TextField } from '../ui/fields/fields.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { evaluatorKind, limitText } from './evaluator-kind.js';
import './evaluators.css';

const COLUMNS = ['Evaluator', 'Description', 'Kind', 'Version', 'Time limit'];

/** The evaluators that a control can use. */
export default function EvaluatorsPage() {
  const [filters, setFilter] = useAddressFilter();
  const text = filters.get('text') ?? '';
  const query = useQuery(EvaluatorService.method.listEvaluators, {});
  const isFound = (...texts: string[]) => texts.some((one) => one.toLowerCase().includes(text.toLowerCase()));
  return (
    <Page title="Evaluators">
      <search className="filters">
        <TextField
          label="Name or description contains"
          type="search"
          value={text}
          onChange={(next) => setFilter('text', next)}
        />
      </search>
      <QueryState query={query} what="evaluators">
        {({ evaluators }) => {
          const found = Object.values(evaluators)
            .filter(({ name, description }) => isFound(name, description))
            .sort((one, other) => one.name.localeCompare(other.name));
          if (found.length === 0) return <Empty title="No evaluator matches the filter" />;
          return (
            <Table label="Evaluators" columns={COLUMNS}>
              {found.map((evaluator) => (
                <tr key={evaluator.name}>
                  <td>
                    <Link href={`/evaluators/${encodeURIComponent(evaluator.name)}`}>
                      <UserText text={evaluator.name} />
                    </Link>
                  </td>
                  <td className="wrapped" dir="auto">
                    {evaluator.description}
                  </td>
                  <td>{evaluatorKind(evaluator)}</td>
                  <td>
                    <UserText text={evaluator.version} />
                  </td>
                  <td className="number">{limitText(evaluator.timeoutMs)}</td>
                </tr>
              ))}
            </Table>
          );
        }}
      </QueryState>
      <p className="muted">
        An evaluator checks the part of a step that a selector selects. Evaluators of your own are modules
        named by <code>SERVICE_EVALUATORS</code>; evaluators that agents register are on the pages of these
        agents.
      </p>
    </Page>
  );
}
