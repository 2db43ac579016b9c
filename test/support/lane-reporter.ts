import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { DefaultReporter, type TestModule, type Vitest } from 'vitest/node';

/** Between lines about the progress. */
const PROGRESS_MS = 10_000;

type RunEnd = Parameters<DefaultReporter['onTestRunEnd']>;

/** Says how far a run is, what failed, and in one line how it ended: a line for each of 600 files says less. */
export class LaneReporter extends DefaultReporter {
  #files = 0;
  #done = 0;
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  #begun = performance.now();
  #told = performance.now();

  override onInit(vitest: Vitest): void {
    super.onInit(vitest);
    this.#begun = performance.now();
  }

  override onTestRunStart(...[specifications]: Parameters<DefaultReporter['onTestRunStart']>): void {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
    this.log(`${this.#files} files of tests. The slowest ones come first.`);
  }

  override printTestModule(module: TestModule): void {
    for (const { state } of Array.from(module.children.allTests(), (test) => test.result())) {
      if (state === 'passed') this.#passed += 1;
      else if (state === 'failed') this.#failed += 1;
      else this.#skipped += 1;
    }
    this.#done += 1;
    if (!module.ok()) super.printTestModule(module);
    if (performance.now() - this.#told < PROGRESS_MS && this.#done < this.#files) return;
    this.#told = performance.now();
    this.log(`${this.#done} of ${this.#files} files, ${this.#totals()}, after ${this.#seconds()} s`);
  }

  override onTestRunEnd(...[modules, errors, reason]: RunEnd): void {
    super.onTestRunEnd(modules, errors, reason);
    for (const module of modules) this.#keepHookErrors(module);
    const word = reason === 'passed' ? 'All tests passed' : 'NOT all tests passed';
    this.log(`${word}: ${this.#totals()} in ${modules.length} files, ${this.#seconds()} s.`);
  }

  /** The JSON report has no errors of hooks: `.ci/totals.mjs` prints them from this file. */
  #keepHookErrors(module: TestModule): void {
    const folder = process.env.TEST_RESULTS_FOLDER;
    if (folder === undefined) return;
    for (const suite of module.children.allSuites()) {
      for (const { message, stack } of suite.errors()) {
        const line = { file: module.relativeModuleId, suite: suite.fullName, error: stack ?? message };
        appendFileSync(path.join(folder, 'hooks.jsonl'), `${JSON.stringify(line)}\n`);
      }
    }
  }

  #totals(): string {
    const skipped = this.#skipped === 0 ? '' : `, ${this.#skipped} skipped`;
    return `${this.#passed} passed, ${this.#failed} failed${skipped}`;
  }

  #seconds(): number {
    return Math.round((performance.now() - this.#begun) / 1_000);
  }
}
