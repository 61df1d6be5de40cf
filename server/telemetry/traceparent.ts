/** Offset of the last digit of the flags in a W3C traceparent: its lowest bit says "sampled". */
const FLAGS_END = 54

/**
 * Whether a traceparent says that its trace is sampled. Looks at one character: it is asked for every attempt.
 *
 * @example saysSampled('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01') // true
 */
export function saysSampled(traceparent: string): boolean {
  return traceparent.length > FLAGS_END && '13579bdf'.includes(traceparent.charAt(FLAGS_END))
}

/** The opposite, of one that is long enough to say anything. */
export function saysUnsampled(traceparent: string): boolean {
  return traceparent.length > FLAGS_END && '02468ace'.includes(traceparent.charAt(FLAGS_END))
}
