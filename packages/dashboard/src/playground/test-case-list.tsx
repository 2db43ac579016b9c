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

const COLUMNS = ['Case', 'Agent', 'Stage', 'Expected', 'Result', 'Action'];

export function TestCaseList({ cases, results, onOpen, onRemove }: TestCaseListProps) {
  return (
    <Table label="Test cases" columns={COLUMNS}>
      {cases.map((testCase, index) => {
        const { name, agent, stage, expected } = testCase;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: cases of a file may be equal
          <tr key={index}>
            <td>
              <UserText text={name} />
            </td>
            <td>
              <UserText text={agent} />
            </td>
            <td>{stage}</td>
            <td>
              {expected.outcome}
              {expected.matches.length > 0 && (
                <>
                  {' '}
                  by <UserText text={expected.matches.join(', ')} />
                </>
              )}
            </td>
            <td className="case-result">
              <Result result={results[index]} />
            </td>
            <td>
              <span className="ways">
                <button type="button" aria-label={`Open ${name}`} onClick={() => onOpen(testCase)}>
                  Open
                </button>
                <button type="button" aria-label={`Remove ${name}`} onClick={() => onRemove(testCase)}>
                  Remove
                </button>
              </span>
            </td>
          </tr>
        );
      })}
    </Table>
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
