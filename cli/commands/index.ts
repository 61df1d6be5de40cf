import type { Command } from 'commander'
import { processTerminal, type Terminal } from '../terminal.js'
import { addBackup } from './backup.js'
import { addCancel } from './cancel.js'
import { addCheck } from './check.js'
import { addConsumers, addDeleteConsumer } from './consumers.js'
import { addExport } from './export.js'
import { addGet } from './get.js'
import { addHandlers } from './handlers.js'
import { addImport } from './import.js'
import { addList } from './list.js'
import { addPreview } from './preview.js'
import { addProto } from './proto.js'
import { addResults } from './results.js'
import { addSchedule } from './schedule.js'
import { addPause, addResume, addRunNow } from './series.js'
import { addStats } from './stats.js'

/** Adds every command but `serve`. */
export function registerCommands(program: Command, terminal: Terminal = processTerminal()): void {
  addSchedule(program, terminal)
  addCancel(program, terminal)
  addGet(program, terminal)
  addList(program, terminal)
  addResults(program, terminal)
  addConsumers(program, terminal)
  addDeleteConsumer(program, terminal)
  addHandlers(program, terminal)
  addStats(program, terminal)
  addPreview(program, terminal)
  addPause(program, terminal)
  addResume(program, terminal)
  addRunNow(program, terminal)
  addProto(program, terminal)
  addBackup(program, terminal)
  addCheck(program, terminal)
  addExport(program, terminal)
  addImport(program, terminal)
}
