/** A wall-clock instant: whole milliseconds since 1970. A finer due time is rounded up to it, so that nothing starts early. */
export type Instant = number
