#!/usr/bin/env node
import 'reflect-metadata';
import { reportFailure } from './cli/failure';
import { buildProgram } from './cli/program';

/** The operator's door: one command, one JSON object on stdout. */
buildProgram().parseAsync().catch(reportFailure);
