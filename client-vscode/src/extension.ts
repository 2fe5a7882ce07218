/** The extension: finds a Python, starts `memidex lsp`, and says clearly when it cannot. What is shown comes from the server. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn, type StaticFeature } from 'vscode-languageclient/node';
import { run, type Screen } from './decisions';
import { choose, machine, SETTING, type Candidate } from './python';

/** The part of the Python extension that is used where it is installed; it is never required. */
interface PythonExtension {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

interface Server {
  process: ChildProcess;
  client?: LanguageClient;
  running: boolean;
}

const PATIENCE_TO_START = 60_000;
const PATIENCE_TO_STOP = 5_000;
const DEATHS_FORGIVEN = 4;
const DEATHS_WITHIN = 180_000;
const DOCUMENTS = [
  ...['markdown', 'json', 'jsonc', 'jsonl'].map((language) => ({ scheme: 'file', language })),
  ...['**/*.jsonl', '**/store.toml'].map((pattern) => ({ scheme: 'file', pattern })),
];
const ROOTS = '{**/memory/*/bundles/**,**/store.toml}';
const IN_A_ROOT = /[\\/]memory[\\/][^\\/]+[\\/]bundles[\\/]|[\\/]store\.toml$/;
const IN_A_STORE = /^(.*[\\/])records[\\/]/;
const NEEDS_RESTART = ['interpreter', 'importStrategy', 'path', 'args'].map((name) => `memidex.${name}`);

let log: vscode.LogOutputChannel;
let status: vscode.LanguageStatusItem;
let server: Server | undefined;
let deaths: number[] = [];
let wanted = false;
let turn: Promise<void> = Promise.resolve();
let listening = false;
const environmentChanged = new vscode.EventEmitter<unknown>();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  log = vscode.window.createOutputChannel('memidex', { log: true });
  status = vscode.languages.createLanguageStatusItem('memidex', DOCUMENTS);
  status.name = 'memidex';
  const restart = () => inTurn(() => start(context));
  context.subscriptions.push(
    log,
    status,
    vscode.commands.registerCommand('memidex.restart', () => {
      wanted = true;
      return restart();
    }),
    vscode.commands.registerCommand('memidex.showLogs', () => log.show()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (wanted && NEEDS_RESTART.some((name) => change.affectsConfiguration(name))) void restart();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => wanted && void restart()),
    environmentChanged,
    environmentChanged.event(() => wanted && void restart()),
  );
  whenWanted(context, () => {
    wanted = true;
    void restart();
  });
}

export function deactivate(): Promise<void> {
  return inTurn(stop);
}

/** Starts and stops one after the other, however fast they are asked for. */
function inTurn(work: () => Promise<void>): Promise<void> {
  turn = turn.then(work).catch((error: unknown) => failed(`memidex could not start: ${text(error)}`));
  return turn;
}

/** A server is started only where there is something for it: a root in the workspace, or a file of one that is opened. */
function whenWanted(context: vscode.ExtensionContext, begin: () => void): void {
  const waiting: vscode.Disposable[] = [];
  const found = () => {
    if (wanted) return;
    waiting.forEach((one) => one.dispose());
    begin();
  };
  const look = async () => {
    if ((await vscode.workspace.findFiles(ROOTS, undefined, 1)).length) found();
  };
  const inside = ({ uri }: vscode.TextDocument) => {
    const store = IN_A_STORE.exec(uri.fsPath)?.[1];
    return uri.scheme === 'file' && (IN_A_ROOT.test(uri.fsPath) || (store !== undefined && fs.existsSync(path.join(store, 'store.toml'))));
  };
  const watcher = vscode.workspace.createFileSystemWatcher(ROOTS, false, true, true);
  waiting.push(
    watcher,
    watcher.onDidCreate(found),
    vscode.workspace.onDidOpenTextDocument((document) => inside(document) && found()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void look()),
  );
  context.subscriptions.push(...waiting);
  if (vscode.workspace.textDocuments.some(inside)) found();
  else void look();
}

async function start(context: vscode.ExtensionContext): Promise<void> {
  await stop();
  say('Starting', vscode.LanguageStatusSeverity.Information, true);
  const found = await command(context);
  if ('problem' in found) return failed(found.problem);
  const [file = '', ...args] = [...found.start, 'lsp', '--stdio', ...setting<string[]>('args', [])];
  log.info(`starting: ${[file, ...args].join(' ')}`);
  const mine: Server = { process: spawn(file, args, { windowsHide: true }), running: false };
  server = mine;
  const client = new LanguageClient('memidex', 'memidex', () => spawned(mine.process), {
    documentSelector: DOCUMENTS,
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never, // a request that failed is for the log; what stops the work is told
    initializationOptions: { memidex: { trusted: vscode.workspace.isTrusted, rules: setting('rules', {}) } },
    synchronize: { configurationSection: 'memidex' },
    middleware: {
      executeCommand: (name, args, next) => run(name, args, next, SCREEN),
      // A change that restarts the server is not told to the one that is about to go.
      workspace: { didChangeConfiguration: async (sections, next) => (await turn, server === mine ? next(sections) : undefined) },
    },
    initializationFailedHandler: () => false, // start() rejects; one message is enough
    stdioOptions: { stdout: () => undefined, stderr: (lines) => createInterface({ input: lines }).on('line', relay) },
    errorHandler: {
      error: (_error, _message, count) => ({ action: (count ?? 0) <= 3 ? ErrorAction.Continue : ErrorAction.Shutdown }),
      closed: () => {
        delete mine.client; // nothing is left to stop
        if (server === mine) ready(false);
        if (server === mine && mine.running) ended(context);
        return { action: CloseAction.DoNotRestart, handled: true, message: 'the connection is closed' };
      },
    },
  });
  client.registerFeature(FOLLOWS);
  let silent = false;
  const tooLong = setTimeout(() => {
    silent = true;
    mine.process.kill();
  }, PATIENCE_TO_START);
  try {
    await client.start();
    mine.running = true;
    mine.client = client;
    ready(true);
  } catch (error) {
    const code = await exitOf(mine.process);
    mine.process.kill();
    if (silent) throw new Error(`the server did not answer within ${PATIENCE_TO_START / 1000} seconds`);
    throw code === undefined ? error : new Error(`the server ended before it answered (exit code ${code}); the log says more`);
  } finally {
    clearTimeout(tooLong);
  }
  const info = client.initializeResult?.serverInfo;
  log.info(`running: ${info?.name ?? 'memidex'} ${info?.version ?? ''}, ${found.detail}`);
  say(`${info?.name ?? 'memidex'} ${info?.version ?? ''}`.trim(), vscode.LanguageStatusSeverity.Information, false, found.detail);
}

async function stop(): Promise<void> {
  const old = server;
  server = undefined;
  ready(false);
  try {
    await old?.client?.dispose(PATIENCE_TO_STOP);
  } catch (error) {
    log.warn(`the server did not stop as asked: ${text(error)}`);
  }
  if (old && old.process.exitCode === null) setTimeout(() => old.process.kill(), PATIENCE_TO_STOP).unref();
}

/** Whether there is a server to run commands: without one the palette does not offer them. */
function ready(now: boolean): void {
  void vscode.commands.executeCommand('setContext', 'memidex.ready', now);
}

/** A line that the server logged, at its own level; one without a level belongs to a traceback. */
function relay(line: string): void {
  const [, level, rest = line] = /^(DEBUG|INFO|WARNING) (.*)$/.exec(line) ?? [];
  if (level === 'DEBUG') log.debug(rest);
  else if (level === 'INFO') log.info(rest);
  else if (level === 'WARNING') log.warn(rest);
  else log.error(rest);
}

/** The exit code of a process that has ended or is about to. */
async function exitOf(child: ChildProcess): Promise<number | undefined> {
  if (child.pid !== undefined && child.exitCode === null) {
    await Promise.race([once(child, 'exit'), new Promise((done) => setTimeout(done, 1_000))]);
  }
  return child.exitCode ?? undefined;
}

/** The process once it runs; a command that is not there is an error with its name. */
function spawned(child: ChildProcess): Promise<ChildProcess> {
  child.on('exit', (code, signal) => log.info(`the server ended, ${signal ?? `exit code ${code}`}`));
  return new Promise((done, refuse) => {
    child.once('error', refuse);
    if (child.pid !== undefined) done(child);
  });
}

/** A server that was running is gone: it is started again, unless that happens too often. */
function ended(context: vscode.ExtensionContext): void {
  const now = Date.now();
  deaths = [...deaths.filter((at) => now - at < DEATHS_WITHIN), now];
  if (deaths.length <= DEATHS_FORGIVEN) {
    log.warn('the server ended; it is started again');
    void inTurn(() => start(context));
  } else {
    deaths = [];
    failed(`The memidex server ended ${DEATHS_FORGIVEN + 1} times in three minutes and is not started again.`);
  }
}

/** The command of the server before `lsp`: the setting, else the first Python that can run it. */
async function command(context: vscode.ExtensionContext): Promise<{ start: string[]; detail: string } | { problem: string }> {
  const own = setting<string[]>('path', []);
  if (own.length) return { start: own, detail: own.join(' ') };
  const strategy = setting<'useBundled' | 'fromEnvironment'>('importStrategy', 'useBundled');
  const choice = await choose(await candidates(), strategy, context.asAbsolutePath('launch.py'), machine((line) => log.info(line)));
  if ('problem' in choice) return choice;
  return { start: choice.start, detail: `Python ${choice.version} (${choice.from}), ${choice.server} server` };
}

/** In order: the setting, which is final; the Python extension's; a trusted workspace's `.venv`; what is on PATH. */
async function candidates(): Promise<Candidate[]> {
  const set = setting<string[]>('interpreter', []);
  if (set.length) return [{ command: set, from: SETTING }];
  const found: Candidate[] = [];
  const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
  const windows = process.platform === 'win32';
  if (vscode.workspace.isTrusted) {
    const active = await activeEnvironment(folders[0]?.uri);
    if (active) found.push({ command: [active], from: 'the Python extension' });
    for (const folder of folders) {
      for (const name of ['.venv', 'venv']) {
        const python = path.join(folder.uri.fsPath, name, ...(windows ? ['Scripts', 'python.exe'] : ['bin', 'python']));
        if (fs.existsSync(python)) found.push({ command: [python], from: name });
      }
    }
  }
  const names = windows ? [['py', '-3'], ['python'], ['py', '-3.11']] : [['python3'], ['python'], ['python3.11'], ['python3.12'], ['python3.13']];
  return [...found, ...names.map((name) => ({ command: name, from: 'PATH' }))];
}

async function activeEnvironment(resource: vscode.Uri | undefined): Promise<string | undefined> {
  try {
    const api = await vscode.extensions.getExtension<PythonExtension>('ms-python.python')?.activate();
    const environment = api?.environments;
    if (environment && !listening) {
      listening = true;
      environment.onDidChangeActiveEnvironmentPath((change) => environmentChanged.fire(change));
    }
    const resolved = await environment?.resolveEnvironment(environment.getActiveEnvironmentPath(resource));
    return resolved?.executable.uri?.fsPath;
  } catch (error) {
    log.warn(`the Python extension gives no interpreter: ${text(error)}`);
    return undefined;
  }
}

function failed(problem: string): void {
  log.error(problem);
  say('Not running', vscode.LanguageStatusSeverity.Error, false, problem);
  void vscode.window.showErrorMessage(problem, 'Restart', 'Show Logs', 'Settings').then((answer) => {
    if (answer === 'Restart') void vscode.commands.executeCommand('memidex.restart');
    if (answer === 'Show Logs') log.show();
    if (answer === 'Settings') void vscode.commands.executeCommand('workbench.action.openSettings', 'memidex.');
  });
}

function say(words: string, severity: vscode.LanguageStatusSeverity, busy: boolean, detail = ''): void {
  status.text = words;
  status.detail = detail;
  status.severity = severity;
  status.busy = busy;
  status.command = severity === vscode.LanguageStatusSeverity.Error
    ? { title: 'Show Logs', command: 'memidex.showLogs' }
    : { title: 'Restart', command: 'memidex.restart' };
}

/** The editor, for what is the client's of a decision. */
const SCREEN: Screen = {
  here: () => {
    const uri = vscode.window.activeTextEditor?.document.uri;
    return uri?.scheme === 'file' ? uri.toString() : undefined;
  },
  ask: (title, prompt, value = '') => vscode.window.showInputBox({ title, prompt, value, ignoreFocusOut: true }),
  warn: (message) => void vscode.window.showWarningMessage(message),
  tell: async (message, button) => (await vscode.window.showInformationMessage(message, ...(button ? [button] : []))) !== undefined,
  hint: (message) => void vscode.window.setStatusBarMessage(message, 10_000),
  compare: (original, proposal) =>
    vscode.commands.executeCommand('vscode.diff', vscode.Uri.parse(original), vscode.Uri.parse(proposal), 'What is there ↔ what is proposed'),
  notifies: () => setting('notifyDecisions', true),
};

/** Tells the server that this client knows its own notifications and answers, so that nothing is said twice. */
const FOLLOWS: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), memidex: true };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

const setting = <T>(name: string, otherwise: T): T => vscode.workspace.getConfiguration('memidex').get<T>(name) ?? otherwise;
const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));
