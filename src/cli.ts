#!/usr/bin/env node
import 'reflect-metadata';
import { reportFailure } from './cli/failure';
import { buildProgram } from './cli/program';

/** Runs one command of the operator, which prints one JSON object on stdout. */
async function main(): Promise<void> {
  await buildProgram().parseAsync().catch(reportFailure);
  // Without this call, a client of a Redis that is down would keep the process alive for seconds.
  process.exit();
}

void main();
