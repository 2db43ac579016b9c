// Evaluates steps with the generated Go package: ADDRESS KEY AGENT STEP... The steps are JSON.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	v1 "github.com/control-enforcement/service/gen/go/enforcement/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

func main() {
	conn, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "x-api-key", os.Args[2])
	client := v1.NewEvaluationServiceClient(conn)
	for _, step := range os.Args[4:] {
		verdict, err := client.Evaluate(ctx, &v1.EvaluateRequest{
			AgentName: os.Args[3],
			Stage:     v1.Stage_STAGE_PRE,
			StepForm:  &v1.EvaluateRequest_StepJson{StepJson: []byte(step)},
		})
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		fmt.Println(verdict.GetIsSafe(), verdict.GetOutcome(), verdict.GetReason())
	}
}
