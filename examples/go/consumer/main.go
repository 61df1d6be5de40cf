// Command consumer receives every result once, also when the server or this program is killed in between:
//
//	go run ./consumer -address 127.0.0.1:50051 -journal results.jsonl
//
// It ends with 0 on SIGINT or SIGTERM, and with 3 when the place where it stopped is not in the server's log any more.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	punctual "punctual.dev/examples/gen/punctual/v1"
)

const (
	// The server speaks at least this often.
	heartbeat    = 5 * time.Second
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
)

// Trying again does not help against these.
var final = map[codes.Code]bool{
	codes.InvalidArgument: true, codes.OutOfRange: true, codes.Unimplemented: true,
	codes.PermissionDenied: true, codes.Unauthenticated: true,
}

// errJournal is what the disk says: the server is not to blame.
var errJournal = errors.New("the journal cannot be written")

func main() {
	log.SetFlags(0)
	address := flag.String("address", "127.0.0.1:50051", "of the server")
	path := flag.String("journal", "results.jsonl", "where results and the cursor are kept")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	journal, err := OpenJournal(*path)
	if err != nil {
		log.Fatal(err)
	}
	defer journal.Close()
	connection, err := grpc.NewClient(*address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		// a peer that vanished is noticed although TCP says nothing
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
		// a server that comes back is found soon
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{
			BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: longestPause,
		}}))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()

	err = consume(ctx, punctual.NewSchedulerServiceClient(connection), journal)
	switch {
	case ctx.Err() != nil:
	case final[status.Code(err)]:
		log.Print(err)
		os.Exit(3)
	default:
		log.Fatal(err)
	}
}

// consume goes on until the context ends or something final happens.
func consume(ctx context.Context, client punctual.SchedulerServiceClient, journal *Journal) error {
	pause := firstPause
	for {
		received, err := receive(ctx, client, journal)
		if ctx.Err() != nil || errors.Is(err, errJournal) || final[status.Code(err)] {
			return err
		}
		log.Print(err)
		if received {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
		// not all consumers at the same moment
		case <-time.After(time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))):
		}
		pause = min(pause*2, longestPause)
	}
}

// receive keeps what one stream brings until it breaks; received says whether it brought anything.
func receive(ctx context.Context, client punctual.SchedulerServiceClient, journal *Journal) (received bool, err error) {
	request := &punctual.StreamResultsRequest{
		HeartbeatInterval: durationpb.New(heartbeat),
		OutputFormat:      punctual.OutputFormat_OUTPUT_FORMAT_JSON,
		Start:             &punctual.StreamResultsRequest_Position{Position: punctual.Position_POSITION_EARLIEST},
	}
	if journal.Cursor != "" {
		request.Start = &punctual.StreamResultsRequest_AfterCursor{AfterCursor: journal.Cursor}
	}
	// while the server is down, the call waits for it
	stream, err := client.StreamResults(ctx, request, grpc.WaitForReady(true))
	if err != nil {
		return false, err
	}
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return received, errors.New("the server ended the stream")
		}
		if err != nil {
			return received, err
		}
		received = true
		// most heartbeats bring nothing new
		if response.Cursor == journal.Cursor {
			continue
		}
		if err := journal.Append(entryOf(response)); err != nil {
			return received, fmt.Errorf("%w: %w", errJournal, err)
		}
		for _, result := range response.Results {
			fmt.Println(result.Sequence, result.TaskId, result.Outcome)
		}
	}
}

func entryOf(response *punctual.StreamResultsResponse) Entry {
	entry := Entry{Cursor: response.Cursor, Results: make([]Result, len(response.Results))}
	for i, result := range response.Results {
		output := json.RawMessage("null")
		if text := result.GetOutputJson(); text != "" {
			output = json.RawMessage(text)
		}
		entry.Results[i] = Result{
			Sequence: result.Sequence,
			TaskID:   result.TaskId,
			Run:      result.Run,
			Outcome:  result.Outcome.String(),
			Output:   output,
		}
	}
	return entry
}
