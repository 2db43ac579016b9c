import { useId, useRef, useState } from 'react';
import { runBulk } from '../controls/bulk/run-bulk.js';
import { saveBlob } from '../ui/browser/save-blob.js';
import { numberOf } from '../ui/numbers.js';
import { type CaseResult, runTestCase } from './run-test-case.js';
import { TestCaseList } from './test-case-list.js';
import { readTestCases, type TestCase, testCasesText } from './test-cases.js';

const MAX_FILE_BYTES = 16 * 1024 * 1024;

interface TestCasePanelProps {
  readonly cases: readonly TestCase[];
  readonly onChange: (cases: readonly TestCase[]) => void;
  /** Puts a case into the form. */
  readonly onOpen: (testCase: TestCase) => void;
}

/** Test cases of a file, or saved on this page: run, changed, and downloaded. */
export function TestCasePanel({ cases, onChange, onOpen }: TestCasePanelProps) {
  const [results, setResults] = useState<ReadonlyMap<TestCase, CaseResult>>(new Map());
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const id = useId();
  const ran = cases.map((testCase) => results.get(testCase));
  const passed = ran.filter((result) => result?.kind === 'passed').length;
  const finished = ran.filter((result) => result !== undefined).length;

  const run = async (): Promise<void> => {
    setRunning(true);
    setResults(new Map());
    await runBulk({
      items: cases,
      act: async (testCase) => {
        const result = await runTestCase(testCase);
        setResults((before) => new Map(before).set(testCase, result));
      },
      signal: new AbortController().signal,
    });
    setRunning(false);
  };
  const openFile = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      if (file.size > MAX_FILE_BYTES) throw new Error('The file is larger than 16 MiB.');
      onChange([...cases, ...readTestCases(await file.text())]);
      setProblem(null);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <section className="card test-cases" aria-labelledby={id}>
      <h2 id={id}>Test cases</h2>
      <p className="muted">
        A test case is a step with the verdict that is expected of it. They are kept on this page until it is
        left: download them to keep them.
      </p>
      <div className="links">
        <button type="button" onClick={() => picker.current?.click()}>
          Open test cases…
        </button>
        <input
          ref={picker}
          type="file"
          accept=".json,application/json"
          hidden
          aria-label="File of test cases"
          onChange={(event) => {
            void openFile(event.target.files?.[0]);
            // The same file can be opened again.
            event.target.value = '';
          }}
        />
        {cases.length > 0 && (
          <>
            <button type="button" disabled={isRunning} onClick={run}>
              {isRunning ? 'Running…' : 'Run all'}
            </button>
            <button
              type="button"
              onClick={() =>
                saveBlob(new Blob([testCasesText(cases)], { type: 'application/json' }), 'test-cases.json')
              }
            >
              Download {numberOf(cases.length, 'test case')}
            </button>
          </>
        )}
        <span role="status">
          {finished > 0 &&
            `${passed} of ${numberOf(cases.length, 'case')} passed, ${finished - passed} did not.`}
        </span>
      </div>
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {cases.length > 0 && (
        <TestCaseList
          cases={cases}
          results={ran}
          onOpen={onOpen}
          onRemove={(removed) => onChange(cases.filter((testCase) => testCase !== removed))}
        />
      )}
    </section>
  );
}
