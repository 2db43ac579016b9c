import { IconAlertTriangle, IconCheck, IconX } from '@tabler/icons-react';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import type { CaseResult } from './run-test-case.js';
import type { TestCase } from './test-cases.js';

interface TestCaseListProps {
  readonly cases: readonly TestCase[];
  /** In the order of the cases; absent for those that have not run. */
  readonly results: readonly (CaseResult | undefined)[];
  readonly onOpen: (testCase: TestCase) => void;
  readonly onRemove: (testCase: TestCase) => void;
}

export function TestCaseList({ cases, results, onOpen, onRemove }: TestCaseListProps) {
  return (
    <Table
      label="Test cases"
      rows={cases.map((testCase, index) => ({ testCase, result: results[index] }))}
      // Cases of a file may be equal.
      keyOf={(_row, index) => index}
      columns={[
        { head: 'Case', cell: ({ testCase }) => <UserText text={testCase.name} /> },
        { head: 'Agent', cell: ({ testCase }) => <UserText text={testCase.agent} /> },
        { head: 'Stage', cell: ({ testCase }) => testCase.stage },
        { head: 'Expected', cell: ({ testCase }) => <Expected {...testCase.expected} /> },
        { head: 'Result', className: 'case-result', cell: ({ result }) => <Result result={result} /> },
        {
          head: 'Action',
          cell: ({ testCase }) => (
            <span className="ways">
              <button type="button" aria-label={`Open ${testCase.name}`} onClick={() => onOpen(testCase)}>
                Open
              </button>
              <button type="button" aria-label={`Remove ${testCase.name}`} onClick={() => onRemove(testCase)}>
                Remove
              </button>
            </span>
          ),
        },
      ]}
    />
  );
}

function Expected({ outcome, matches }: TestCase['expected']) {
  return (
    <>
      {outcome}
      {matches.length > 0 && (
        <>
          {' '}
          by <UserText text={matches.join(', ')} />
        </>
      )}
    </>
  );
}

function Result({ result }: { readonly result: CaseResult | undefined }) {
  if (result === undefined) return <span className="muted">not run</span>;
  if (result.kind === 'passed') {
    return (
      <span className="badge safe">
        <IconCheck size={14} aria-hidden="true" />
        passed
      </span>
    );
  }
  const isError = result.kind === 'error';
  return (
    <>
      <span className={`badge ${isError ? 'error' : 'deny'}`}>
        {isError ? (
          <IconAlertTriangle size={14} aria-hidden="true" />
        ) : (
          <IconX size={14} aria-hidden="true" />
        )}
        {isError ? 'error' : 'failed'}
      </span>{' '}
      {result.reason}
    </>
  );
}
