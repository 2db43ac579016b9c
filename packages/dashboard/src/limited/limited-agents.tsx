import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { AGENT_COLUMN, agentAddress } from '../references/columns.js';
import type { AgentLimit } from '../session/agent-limit-text.js';
import { TextField } from '../ui/fields/fields.js';
import { NameLink } from '../ui/name-link.js';
import { Empty } from '../ui/states.js';
import { Table } from '../ui/table/table.js';

interface LimitedAgentsProps {
  readonly limit: AgentLimit;
  /** Where an agent leads to. */
  readonly addressOf?: (agentName: string) => string;
}

/** The agents of a caller with a limit, and a way to those that its patterns mean. */
export function LimitedAgents({ limit, addressOf = agentAddress }: LimitedAgentsProps) {
  return (
    <>
      {limit.patterns.length > 0 && <OpenByName patterns={limit.patterns} addressOf={addressOf} />}
      {(limit.names.length > 0 || limit.patterns.length === 0) && (
        <Table
          label="Agents of this key"
          rows={limit.names}
          keyOf={(name) => name}
          empty={<Empty title="This key sees no agent" />}
          columns={[
            { head: AGENT_COLUMN.head, cell: (name) => <NameLink href={addressOf(name)} name={name} /> },
          ]}
        />
      )}
    </>
  );
}

interface OpenByNameProps {
  /** Empty for any agent. */
  readonly patterns: readonly string[];
  readonly addressOf?: (agentName: string) => string;
}

/** A way to an agent where a list of agents is not told. */
export function OpenByName({ patterns, addressOf = agentAddress }: OpenByNameProps) {
  const [name, setName] = useState('');
  const [, open] = useLocation();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '') open(addressOf(name.trim()));
  };
  return (
    <form className="filters" onSubmit={submit}>
      <TextField
        label={
          patterns.length === 0 ? 'Name of an agent' : `Name of an agent, matching ${patterns.join(' or ')}`
        }
        value={name}
        onChange={setName}
      />
      <button type="submit">Open</button>
    </form>
  );
}
