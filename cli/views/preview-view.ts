import type { PreviewedDueTime } from '../../client/index.js'
import type { Colours } from '../terminal.js'

/** A due time of a preview: local, UTC, and what a clock change does to it. */
export function previewLine({ dueTime, localTime, mark }: PreviewedDueTime, colours: Colours): string {
  const note = {
    normal: '',
    shifted: 'shifted: this local time does not exist',
    skipped: 'skipped: this local time does not exist',
    doubled: 'doubled: this local time comes twice',
  }[mark]
  return `${localTime}  ${colours.dim(dueTime.toISOString())}${note === '' ? '' : `  ${colours.yellow(note)}`}`
}
