#!/usr/bin/env node
import 'reflect-metadata';
import { reportFailure } from './cli/failure';
import { buildProgram } from './cli/program';

/** The operator's door: one command, one JSON object on stdout. */
async function main(): Promise<void> {
  await buildProgram().parseAsync().catch(reportFailure);
  // All is done and closed. A client of a Redis that is away would keep the process for seconds more.
  process.exit();
}

void main();
