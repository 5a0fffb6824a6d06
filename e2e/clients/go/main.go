// Command go books a timer by the client that oapi-codegen makes of the document. The test
// generates wakecall.gen.go beside it.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
)

func main() {
	if err := book(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func book(ctx context.Context, server, businessType, url string) error {
	client, err := NewClientWithResponses(server)
	if err != nil {
		return err
	}
	var ladder Retry
	if err := ladder.FromStepsRetry(StepsRetry{Steps: []RetryWait{"1s", "2s"}}); err != nil {
		return err
	}
	timer := NewTimer{
		BusinessType: businessType,
		BusinessId:   "go",
		Delay:        new("10ms"),
		Payload:      map[string]any{"order": 4711},
		Callback:     &TimerCallback{Url: &url, Timeout: new("5s")},
		Retry:        &ladder,
	}
	booked, err := client.AddTimerWithResponse(ctx, nil, timer)
	if err != nil {
		return err
	}
	if booked.JSON201 == nil {
		return fmt.Errorf("the answer is %d: %s", booked.StatusCode(), booked.Body)
	}
	shown, err := client.GetTimerWithResponse(ctx, businessType, booked.JSON201.BusinessId, nil)
	if err != nil {
		return err
	}
	if shown.JSON200 == nil {
		return fmt.Errorf("the answer is %d: %s", shown.StatusCode(), shown.Body)
	}
	fmt.Println(booked.StatusCode(), shown.JSON200.WebhookId)
	return nil
}

// This compiles: events are typed, and recurrences.
var (
	_ = Recurrence{Every: new("1h")}
	_ = TimerFailed{Data: EndedBadly{BusinessId: "order-4711"}}
	_ = NewPolicy{Callback: &PolicyCallback{Url: new("https://orders.example.com/close")}}
)
