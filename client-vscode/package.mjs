// Makes memidex.vsix: types and tests checked, the client bundled, server and libraries beside it.
//   node package.mjs [PYTHON]     PYTHON: the interpreter that the package is for (default python3)
import { execFileSync } from 'node:child_process';
import path from 'node:path';

process.chdir(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname));
const python = process.argv[2] ?? 'python3';
let done = 0;
const run = (file, ...args) => (execFileSync(file, args, { stdio: ['ignore', 'inherit', 'inherit'] }), done++);
const tool = (name, ...args) => run(process.execPath, path.join('node_modules', ...name), ...args);

run('npm', 'run', '--silent', 'check');
run('npm', 'run', '--silent', 'build', '--', '--log-level=warning');
run(python, 'bundle.py');
tool(['@vscode', 'vsce', 'vsce'], 'package', '--no-dependencies', '--skip-license', '--allow-missing-repository', '--target', `${process.platform}-${process.arch}`, '--out', 'memidex.vsix');
console.log(`${done} passed, 0 failed`);
