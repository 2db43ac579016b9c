import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ControlService, type ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { DecisionBadge, signOfDecision } from '../control-parts/decision-badge.js';
import { BY_CURSOR } from '../data/by-cursor.js';
import { useIsAdmin } from '../session/session-context.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { SelectField, TextField } from '../ui/fields/fields.js';
import { LoadMore } from '../ui/list/load-more.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { TemplateStarts } from './template-starts.js';

const PAGE_SIZE = 50;
const COLUMNS = ['Control', 'Values', 'State', 'Decision', 'Description', 'Agents'];
const STATES = [
  ['', 'any'],
  ['true', 'on'],
  ['false', 'off'],
] as const;

/** The controls that are made from templates, drafts included. */
export default function TemplatesPage() {
  const isAdmin = useIsAdmin();
  const [filters, setFilter] = useAddressFilter();
  const typed = filters.get('name') ?? '';
  const enabled = filters.get('enabled') ?? '';
  const name = useDebounced(typed).trim();
  const query = useInfiniteQuery(
    ControlService.method.listControls,
    {
      cursor: undefined,
      limit: PAGE_SIZE,
      templateBacked: true,
      ...(name === '' ? {} : { name }),
      ...(enabled === '' ? {} : { enabled: enabled === 'true' }),
    },
    { ...BY_CURSOR, placeholderData: keepPreviousData },
  );
  return (
    <Page
      title="Templates"
      actions={
        isAdmin && (
          <Link className="action" href="/templates/new">
            New from template
          </Link>
        )
      }
    >
      <search className="filters">
        <TextField
          label="Name contains"
          type="search"
          value={typed}
          onChange={(text) => setFilter('name', text)}
        />
        <SelectField
          label="State"
          value={enabled}
          options={STATES}
          onChange={(chosen) => setFilter('enabled', chosen)}
        />
      </search>
      <QueryState query={query} what="templates">
        {({ pages }) => {
          const controls = pages.flatMap((page) => page.controls);
          if (controls.length === 0) {
            return <NoTemplates isFiltered={name !== '' || enabled !== ''} isAdmin={isAdmin} />;
          }
          return (
            <>
              <Table label="Controls made from templates" columns={COLUMNS}>
                {controls.map((control) => (
                  <TemplateRow key={control.id} control={control} />
                ))}
              </Table>
              <LoadMore {...query} shown={controls.length} total={pages[0]?.pagination?.total ?? 0} />
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

function TemplateRow({ control }: { readonly control: ControlSummary }) {
  const { id, name, description = '', enabled, action, templateRendered, usedByAgentsCount } = control;
  const isDraft = templateRendered === false;
  return (
    <tr>
      <td>
        <Link href={`/controls/${id}`}>
          <UserText text={name} />
        </Link>
      </td>
      <td>
        <Link href={`/controls/${id}/template`}>{isDraft ? 'draft: values are missing' : 'filled in'}</Link>
      </td>
      <td>{enabled ? 'on' : <span className="muted">off</span>}</td>
      <td>{isDraft ? '–' : <DecisionBadge sign={signOfDecision(action?.decision)} />}</td>
      <td>{description === '' ? '–' : <UserText text={description} />}</td>
      <td className="number">{usedByAgentsCount}</td>
    </tr>
  );
}

interface NoTemplatesProps {
  readonly isFiltered: boolean;
  readonly isAdmin: boolean;
}

function NoTemplates({ isFiltered, isAdmin }: NoTemplatesProps) {
  if (isFiltered) return <Empty title="No control made from a template matches the filters" />;
  return (
    <>
      <Empty title="No control is made from a template yet">
        <p>
          A template is a definition with parameters: who fills in a control needs to know the words or the
          pattern, not the definition. {isAdmin && 'Begin with one of these, or write your own:'}
        </p>
      </Empty>
      {isAdmin && <TemplateStarts />}
    </>
  );
}
