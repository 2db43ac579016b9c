import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ControlService, type ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { signOfDecision } from '../control-parts/sign.js';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { CONTROL_COLUMN } from '../references/columns.js';
import { useMay } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { FilterBar, type FilterField } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { UserText } from '../ui/user-text.js';
import { TemplateStarts } from './template-starts.js';

const FILTERS: readonly FilterField[] = [
  { name: 'name', label: 'Name contains' },
  {
    name: 'enabled',
    label: 'State',
    options: [
      ['', 'any'],
      ['true', 'on'],
      ['false', 'off'],
    ],
  },
];
const COLUMNS: Columns<ControlSummary> = [
  CONTROL_COLUMN,
  {
    head: 'Values',
    cell: (control) => (
      <Link href={`/controls/${control.id}/template`}>
        {isDraft(control) ? 'draft: values are missing' : 'filled in'}
      </Link>
    ),
  },
  { head: 'State', cell: ({ enabled }) => (enabled ? 'on' : <span className="muted">off</span>) },
  {
    head: 'Decision',
    cell: (control) =>
      isDraft(control) ? '–' : <DecisionBadge sign={signOfDecision(control.action?.decision)} />,
  },
  {
    head: 'Description',
    cell: ({ description = '' }) => (description === '' ? '–' : <UserText text={description} />),
  },
  { head: 'Agents', className: 'number', cell: ({ usedByAgentsCount }) => usedByAgentsCount },
];

/** The controls that are made from templates, drafts included. */
export default function TemplatesPage() {
  const mayChange = useMay('controls.write');
  const filter = useAddressFilter();
  const enabled = filter.get('enabled');
  const name = useDebounced(filter.get('name')).trim();
  const query = useInfiniteQuery(
    ControlService.method.listControls,
    {
      ...FIRST_PAGE,
      templateBacked: true,
      ...(name === '' ? {} : { name }),
      ...(enabled === '' ? {} : { enabled: enabled === 'true' }),
    },
    FILTERED_BY_CURSOR,
  );
  return (
    <Page
      title="Templates"
      actions={
        mayChange && (
          <Link className="action" href="/templates/new">
            New from template
          </Link>
        )
      }
    >
      <FilterBar fields={FILTERS} filter={filter} />
      <List
        label="Controls made from templates"
        what="templates"
        query={query}
        columns={COLUMNS}
        rowsOf={({ controls }) => controls}
        keyOf={({ id }) => id}
        empty={<NoTemplates isFiltered={name !== '' || enabled !== ''} mayChange={mayChange} />}
      />
    </Page>
  );
}

function isDraft({ templateRendered }: ControlSummary): boolean {
  return templateRendered === false;
}

interface NoTemplatesProps {
  readonly isFiltered: boolean;
  readonly mayChange: boolean;
}

function NoTemplates({ isFiltered, mayChange }: NoTemplatesProps) {
  if (isFiltered) return <Empty title="No control made from a template matches the filters" />;
  return (
    <>
      <Empty title="No control is made from a template yet">
        <p>
          A template is a definition with parameters: who fills in a control needs to know the words or the
          pattern, not the definition. {mayChange && 'Begin with one of these, or write your own:'}
        </p>
      </Empty>
      {mayChange && <TemplateStarts />}
    </>
  );
}
