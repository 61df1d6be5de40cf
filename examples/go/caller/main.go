// Command caller schedules one task and waits for its result:
//
//	go run ./caller -address 127.0.0.1:50051 -n 30 -delay 1s
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"

	punctual "punctual.dev/examples/gen/punctual/v1"
)

// A lost answer is asked for again. That is harmless: the task's id names the same task each time.
const retries = `{"methodConfig": [{
	"name": [{"service": "punctual.v1.SchedulerService"}],
	"retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.2s", "maxBackoff": "2s", "backoffMultiplier": 2,
		"retryableStatusCodes": ["UNAVAILABLE"]}
}]}`

func main() {
	log.SetFlags(0)
	address := flag.String("address", "127.0.0.1:50051", "of the server")
	n := flag.Int("n", 30, "which Fibonacci number")
	delay := flag.Duration("delay", time.Second, "until it is due")
	flag.Parse()

	connection, err := grpc.NewClient(*address,
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(retries))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	client := punctual.NewSchedulerServiceClient(connection)

	task, err := schedule(client, *n, *delay)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s is due at %s\n", task.Spec.Id, task.DueTime.AsTime().Format(time.RFC3339Nano))
	result, err := waitForResult(client, task.Spec.Id)
	if err != nil {
		log.Fatal(err)
	}
	late := result.StartTime.AsTime().Sub(result.DueTime.AsTime())
	fmt.Printf("started %s after it was due, on %s\n", late, result.WorkerId)
	if result.Outcome != punctual.Outcome_OUTCOME_SUCCEEDED {
		log.Fatalf("%s: %s", result.Outcome, result.Error.GetMessage())
	}
	fmt.Println(result.GetOutputJson())
}

func schedule(client punctual.SchedulerServiceClient, n int, delay time.Duration) (*punctual.Task, error) {
	input, err := json.Marshal(map[string]int{"n": n})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	response, err := client.Schedule(ctx, &punctual.ScheduleRequest{Task: &punctual.TaskSpec{
		Id:      "go/" + rand.Text(),
		Handler: "fibonacci",
		Payload: &punctual.TaskSpec_InputJson{InputJson: string(input)},
		When:    &punctual.TaskSpec_Delay{Delay: durationpb.New(delay)},
		Labels:  map[string]string{"caller": "go"},
	}})
	return response.GetTask(), err
}

func waitForResult(client punctual.SchedulerServiceClient, id string) (*punctual.TaskResult, error) {
	request := &punctual.WaitForResultRequest{
		TaskId:       id,
		Wait:         durationpb.New(30 * time.Second),
		OutputFormat: punctual.OutputFormat_OUTPUT_FORMAT_JSON,
	}
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
		response, err := client.WaitForResult(ctx, request)
		cancel()
		// an answer without a result says that the task has not ended yet
		if err != nil || response.Result != nil {
			return response.GetResult(), err
		}
	}
}
