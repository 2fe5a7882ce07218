/** Which Python runs the server, and how. Knows nothing of VS Code: what it needs is handed in. */

import { execFile } from 'node:child_process';

/** A Python that might do, and who named it. */
export interface Candidate {
  command: readonly string[];
  from: string;
}

/** What one run of `launch.py --probe` says: `obstacle` is why this Python cannot run the bundled libraries. */
export interface Probe {
  version: string;
  old: boolean;
  obstacle: string | null;
}

export interface Choice extends Candidate {
  version: string;
  /** From the package itself, or the memidex that is installed for this Python. */
  server: 'bundled' | 'environment';
  /** The whole command, before `lsp`. */
  start: string[];
}

/** No Python will do: `problem` for the message, in words that say what to do next. */
export interface NoChoice {
  problem: string;
}

export interface Machine {
  /** Standard output of a command, or undefined when it does not run or fails. */
  run(command: readonly string[]): Promise<string | undefined>;
  log(line: string): void;
}

export const OLDEST = '3.11';

export function machine(log: (line: string) => void): Machine {
  return {
    log,
    run: ([file, ...args]) =>
      new Promise((done) => {
        execFile(file ?? '', args, { timeout: 15_000, windowsHide: true }, (error, stdout) => {
          done(error ? undefined : stdout);
        });
      }),
  };
}

/** The first candidate that runs the bundled server; where none does, the first that has a memidex of its own. */
export async function choose(
  candidates: readonly Candidate[],
  strategy: 'useBundled' | 'fromEnvironment',
  launcher: string,
  { run, log }: Machine,
): Promise<Choice | NoChoice> {
  const usable: (Candidate & Probe)[] = [];
  const said: string[] = [];
  for (const candidate of candidates) {
    const name = `${candidate.command.join(' ')} (${candidate.from})`;
    const probe = read(await run([...candidate.command, ...ALONE, launcher, '--probe']));
    if (!probe) log(`python: ${name} does not run`);
    else if (probe.old) said.push(`${name} is Python ${probe.version}`);
    else if (strategy === 'useBundled' && probe.obstacle === null) {
      log(`python: ${name}, ${probe.version}, runs the bundled server`);
      return { ...candidate, version: probe.version, server: 'bundled', start: [...candidate.command, ...ALONE, ...UTF8, launcher] };
    } else usable.push({ ...candidate, ...probe });
  }
  for (const candidate of usable) {
    const start = [...candidate.command, ...NOT_HERE, ...UTF8, '-m', 'memidex'];
    const name = `${candidate.command.join(' ')} (${candidate.from})`;
    if ((await run([...start, '--version'])) !== undefined) {
      log(`python: ${name}, ${candidate.version}, has a memidex of its own`);
      return { command: candidate.command, from: candidate.from, version: candidate.version, server: 'environment', start };
    }
    log(`python: ${name}, ${candidate.version}, has no memidex; ${candidate.obstacle ?? 'the bundled one is not wanted'}`);
  }
  said.forEach((line) => log(`python: ${line}: too old`));
  const first = usable[0];
  if (first) {
    const why = strategy === 'useBundled' ? `${first.obstacle}, and it` : 'It';
    return {
      problem:
        `memidex found Python ${first.version} (${first.command.join(' ')}), but cannot run there: ${why} has no memidex installed. ` +
        `Install it there with "${first.command.join(' ')} -m pip install memidex", or set "memidex.interpreter" to another Python.`,
    };
  }
  if (said.length) return { problem: `memidex needs Python ${OLDEST} or newer; ${said.join(', ')}. Set "memidex.interpreter" to a newer one.` };
  const [only] = candidates;
  if (candidates.length === 1 && only?.from === SETTING) {
    return { problem: `memidex cannot run the Python that "memidex.interpreter" names: ${only.command.join(' ')}` };
  }
  return { problem: `memidex needs Python ${OLDEST} or newer and found none. Install it, or set "memidex.interpreter".` };
}

export const SETTING = 'the setting';

// -I -S: nothing but the standard library and the package; -P: never a `memidex` folder of the workspace.
const ALONE = ['-I', '-S'];
const NOT_HERE = ['-P'];
const UTF8 = ['-X', 'utf8'];

function read(answer: string | undefined): Probe | undefined {
  try {
    return JSON.parse(answer ?? '') as Probe;
  } catch {
    return undefined; // no Python, or something else that happens to have the name
  }
}
