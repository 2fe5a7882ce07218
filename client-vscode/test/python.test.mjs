// Which Python runs the server: the choice, on machines that are told rather than met.
import assert from 'node:assert/strict';
import test from 'node:test';
import { build } from 'esbuild';

const { outputFiles } = await build({ entryPoints: ['src/python.ts'], bundle: true, platform: 'node', format: 'esm', write: false });
const { choose, SETTING } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

const fits = { version: '3.11.7', old: false, obstacle: null };
const other = { version: '3.13.1', old: false, obstacle: 'the libraries of this package are for cpython 3.11 on linux-x86_64' };
const old = { version: '3.9.2', old: true, obstacle: null };
const onPath = (name) => ({ command: [name], from: 'PATH' });

/** A machine where each named Python answers its probe, and `installed` ones have a memidex of their own. */
function machine(pythons, installed = []) {
  const asked = [];
  return {
    asked,
    log() {},
    async run([name, ...args]) {
      asked.push([name, ...args].join(' '));
      if (args.includes('--probe')) return pythons[name] === undefined ? undefined : typeof pythons[name] === 'string' ? pythons[name] : JSON.stringify(pythons[name]);
      return installed.includes(name) ? 'memidex 0.1.0' : undefined;
    },
  };
}

const chosen = (candidates, here, strategy = 'useBundled') => choose(candidates, strategy, 'launch.py', here);

test('the first Python that fits the bundle runs it, alone', async () => {
  const choice = await chosen([onPath('a'), onPath('b')], machine({ a: other, b: fits }, ['a']));
  assert.equal(choice.server, 'bundled');
  assert.deepEqual(choice.start, ['b', '-I', '-S', '-X', 'utf8', 'launch.py']);
});

test('where no Python fits the bundle, one with a memidex of its own does, and never one of the workspace', async () => {
  const choice = await chosen([onPath('a'), onPath('b')], machine({ a: other, b: other }, ['b']));
  assert.equal(choice.server, 'environment');
  assert.deepEqual(choice.start, ['b', '-P', '-X', 'utf8', '-m', 'memidex']);
});

test('fromEnvironment leaves the bundle alone', async () => {
  const choice = await chosen([onPath('a')], machine({ a: fits }, ['a']), 'fromEnvironment');
  assert.equal(choice.server, 'environment');
});

test('a Python without the right libraries and without memidex is told what to install', async () => {
  const { problem } = await chosen([onPath('python3')], machine({ python3: other }));
  assert.match(problem, /3\.13\.1.*cpython 3\.11.*python3 -m pip install memidex.*memidex\.interpreter/s);
});

test('only old Pythons: the message says which and what is needed', async () => {
  const { problem } = await chosen([onPath('python3')], machine({ python3: old }));
  assert.match(problem, /needs Python 3\.11 or newer; python3 \(PATH\) is Python 3\.9\.2/);
});

test('no Python at all', async () => {
  const { problem } = await chosen([onPath('python3'), onPath('python')], machine({}));
  assert.match(problem, /needs Python 3\.11 or newer and found none/);
});

test('an interpreter of the settings that does not run is named, and nothing else is tried', async () => {
  const { problem } = await chosen([{ command: ['/nowhere/python'], from: SETTING }], machine({}));
  assert.match(problem, /"memidex\.interpreter" names: \/nowhere\/python/);
});

test('a program that is called python and is none is passed over', async () => {
  const choice = await chosen([onPath('python'), onPath('python3')], machine({ python: 'Welcome to the shop!', python3: fits }));
  assert.deepEqual(choice.command, ['python3']);
});
